#include "acemq/clock.hpp"

#include <time.h>

namespace acemq {
namespace {

class SystemClock final : public Clock {
 public:
  Timestamp now() const noexcept override {
    return Timestamp(std::chrono::duration_cast<std::chrono::microseconds>(read(CLOCK_REALTIME)));
  }
  std::chrono::nanoseconds since_boot() const noexcept override { return read(CLOCK_BOOTTIME); }

 private:
  // Cannot fail: both clocks exist on every Linux that the library runs on, and the address is good.
  static std::chrono::nanoseconds read(clockid_t id) noexcept {
    timespec time{};
    clock_gettime(id, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
};

}  // namespace

const Clock& system_clock() noexcept {
  static const SystemClock clock;
  return clock;
}

}  // namespace acemq
