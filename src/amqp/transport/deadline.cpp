#include "amqp/transport/deadline.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <poll.h>

namespace acemq::amqp {

Deadline deadline_after(std::chrono::nanoseconds wait) {
  constexpr std::chrono::nanoseconds kYear = std::chrono::hours(24 * 365);
  return SteadyClock::now() + std::clamp(wait, std::chrono::nanoseconds::zero(), kYear);
}

int poll_timeout_ms(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

Waited wait_for(int descriptor, short events, int cancel, Deadline deadline) {
  for (;;) {
    std::array<pollfd, 2> waiting{
        {{.fd = descriptor, .events = events, .revents = 0}, {.fd = cancel, .events = POLLIN, .revents = 0}}};
    const int timeout_ms = poll_timeout_ms(deadline);
    // A failed poll (a signal, no memory) reports nothing ready; the deadline bounds the repetition.
    const int count = ::poll(waiting.data(), waiting.size(), timeout_ms);
    if (count > 0 && waiting[1].revents != 0) return Waited::cancelled;
    if (count > 0) return Waited::ready;
    if (timeout_ms == 0) return Waited::late;
  }
}

std::string spell(std::chrono::milliseconds time) {
  if (time.count() % 1000 == 0) return std::to_string(time.count() / 1000) + " s";
  return std::to_string(time.count()) + " ms";
}

}  // namespace acemq::amqp
