// Time and randomness are passed in: whoever needs them takes a Clock or a Random, so that a test decides both.
#pragma once

#include <chrono>
#include <cstdint>

namespace acemq {

// An instant in UTC with microsecond precision, as rows and headers hold it (CONTRACT 2.3).
using Timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

// Implementations must be safe to call from any thread, and must not throw.
class Clock {
 public:
  virtual ~Clock() = default;
  // The wall clock. May jump either way.
  virtual Timestamp now() const noexcept = 0;
  // Time since an arbitrary point; never steps back and goes on while the machine sleeps (CLOCK_BOOTTIME): a lease runs out
  // during a suspend too.
  virtual std::chrono::nanoseconds since_boot() const noexcept = 0;
};

class Random {
 public:
  virtual ~Random() = default;
  // 64 bits; cryptographic quality in system_random(), since message ids come from here (CONTRACT 6).
  virtual std::uint64_t next() noexcept = 0;
};

// The machine's own; they live as long as the process and are safe from any thread.
const Clock& system_clock() noexcept;
Random& system_random() noexcept;

}  // namespace acemq
