#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "acemq/clock.hpp"

namespace acemq::testing {

// A clock that stands still until told. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = Timestamp(std::chrono::microseconds(1'767'323'045'678'901)))
      : wall_us_(start.time_since_epoch().count()) {}

  Timestamp now() const noexcept override { return Timestamp(std::chrono::microseconds(wall_us_)); }
  std::chrono::nanoseconds since_boot() const noexcept override { return std::chrono::nanoseconds(boot_ns_); }

  // Time passes: both clocks go on.
  void advance(std::chrono::nanoseconds by) noexcept {
    boot_ns_ += by.count();
    wall_us_ = wall_us_ + std::chrono::duration_cast<std::chrono::microseconds>(by).count();
  }
  // Somebody sets the wall clock; no time passes.
  void step(std::chrono::microseconds by) noexcept { wall_us_ += by.count(); }

 private:
  std::atomic<std::int64_t> wall_us_;
  std::atomic<std::int64_t> boot_ns_{0};
};

// A reproducible sequence from a seed (splitmix64). Not for ids that leave the test.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept override {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace acemq::testing
