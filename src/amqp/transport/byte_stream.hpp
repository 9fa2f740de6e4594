// A connected stream of bytes that never blocks: the seam below the session, and the place where TLS plugs in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/transport/deadline.hpp"
#include "amqp/transport/resolver.hpp"
#include "amqp/transport/wakeup.hpp"

namespace acemq::amqp {

// What one attempt to move bytes came to.
struct Transfer {
  std::size_t bytes = 0;     // 0 without a failure: none can move now, wait for the descriptor
  std::string failure = {};  // why none ever will again
};

// Destroying it closes it. Used by one thread.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Transfer read_some(char* buffer, std::size_t size) = 0;
  virtual Transfer write_some(std::string_view bytes) = 0;
  // What to poll for input and output.
  virtual int descriptor() const noexcept = 0;
};

struct Connected {
  std::unique_ptr<ByteStream> stream;
  std::string failure = {};  // why there is none
  bool late = false;         // no address had answered when the deadline passed
};

// Tries one address after the other; a silent one may use its equal share of the time that is left.
Connected connect_tcp(const std::vector<SocketAddress>& addresses, Deadline deadline, const Wakeup& cancel);

}  // namespace acemq::amqp
