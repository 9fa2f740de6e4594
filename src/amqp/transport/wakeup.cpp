#include "amqp/transport/wakeup.hpp"

#include <cerrno>
#include <system_error>

#include <sys/eventfd.h>

namespace acemq::amqp {

Wakeup::Wakeup() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Wakeup::raise() noexcept {
  // Fails only when the counter is full, and then it is raised already.
  [[maybe_unused]] const int result = eventfd_write(descriptor_.get(), 1);
}

void Wakeup::lower() noexcept {
  eventfd_t raised = 0;
  // Fails only when it is not raised.
  [[maybe_unused]] const int result = eventfd_read(descriptor_.get(), &raised);
}

}  // namespace acemq::amqp
