#include "amqp/transport/dialer.hpp"

#include <utility>

#include "amqp/transport/deadline.hpp"

namespace acemq::amqp {

Dialer::Dialer(const Url& url, std::chrono::milliseconds timeout)
    : host_(url.host), endpoint_(endpoint(url)), timeout_(timeout), resolver_(url.host, url.port) {}

Dialed Dialer::dial(const Wakeup& cancel) {
  const Deadline deadline = deadline_after(timeout_);
  const Resolution resolution = resolver_.resolve(deadline, cancel);
  if (resolution.addresses.empty()) return {.stream = nullptr, .failure = "cannot resolve " + host_ + ": " + resolution.failure};

  Connected connected = connect_tcp(resolution.addresses, deadline, cancel);
  if (connected.late) return {.stream = nullptr, .failure = "no answer from " + endpoint_ + " within " + spell(timeout_)};
  if (connected.stream == nullptr)
    return {.stream = nullptr, .failure = "cannot connect to " + endpoint_ + ": " + connected.failure};
  return {.stream = std::move(connected.stream)};
}

}  // namespace acemq::amqp
