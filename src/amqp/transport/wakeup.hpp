#pragma once

#include "base/descriptor.hpp"

namespace acemq::amqp {

// Lets one thread end another's poll(): an eventfd that becomes readable. Any thread may raise it.
class Wakeup {
 public:
  // Throws std::system_error when the process has no descriptor left.
  Wakeup();
  void raise() noexcept;
  // Takes back every raise() so far.
  void lower() noexcept;
  int descriptor() const noexcept { return descriptor_.get(); }

 private:
  base::Descriptor descriptor_;
};

}  // namespace acemq::amqp
