// Deadlines of the transport: instants of the steady clock, and the ways to wait for one.
#pragma once

#include <chrono>
#include <string>

namespace acemq::amqp {

using SteadyClock = std::chrono::steady_clock;
using Deadline = SteadyClock::time_point;

// `wait` from now; a negative one is over, an endless one is cut to a year so that nothing overflows.
Deadline deadline_after(std::chrono::nanoseconds wait);

// As a timeout of poll(): milliseconds rounded up, so that a woken thread never finds its deadline still ahead.
int poll_timeout_ms(Deadline deadline);

enum class Waited { ready, late, cancelled };
// Until `descriptor` has one of `events`, `cancel` is readable, or the deadline has passed.
Waited wait_for(int descriptor, short events, int cancel, Deadline deadline);

// "10 s" or "250 ms".
std::string spell(std::chrono::milliseconds time);

}  // namespace acemq::amqp
