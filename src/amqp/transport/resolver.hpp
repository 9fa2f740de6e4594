// Host names to addresses, with a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "amqp/transport/deadline.hpp"
#include "amqp/transport/wakeup.hpp"

namespace acemq::amqp {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;
};

struct Resolution {
  std::vector<SocketAddress> addresses;  // in the order in which to try them
  std::string failure = {};              // why there are none
};

// Answers from the host text alone (`numeric`), or by asking the system's resolver for as long as that takes.
using LookUp = std::function<Resolution(const std::string& host, std::uint16_t port, bool numeric)>;
Resolution look_up_host(const std::string& host, std::uint16_t port, bool numeric);

// The system's resolver cannot be interrupted, so each look-up of a name runs in a thread of its own that nobody waits for
// longer than they want to. One that is late finishes by itself and its answer is dropped; until then no second one is started,
// so a dead name server costs one thread, whatever the number of attempts. Used by one thread.
class Resolver {
 public:
  Resolver(std::string host, std::uint16_t port, LookUp look_up = look_up_host);
  Resolution resolve(Deadline deadline, const Wakeup& cancel);

 private:
  struct Query;  // shared with its thread
  std::shared_ptr<Query> start();

  std::string host_;
  std::uint16_t port_;
  LookUp look_up_;
  std::shared_ptr<Query> query_;
};

}  // namespace acemq::amqp
