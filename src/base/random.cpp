#include <cerrno>
#include <exception>

#include <sys/random.h>

#include "acemq/clock.hpp"

namespace acemq {
namespace {

// Asks the kernel each time: no state of its own, so nothing to repeat after fork().
class SystemRandom final : public Random {
 public:
  std::uint64_t next() noexcept override {
    std::uint64_t value = 0;
    // Up to 256 bytes come whole or not at all; a signal may interrupt only the wait for the pool at boot.
    while (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
      // An id that is not random could be somebody else's; there is no way to go on.
      if (errno != EINTR) std::terminate();
    }
    return value;
  }
};

}  // namespace

Random& system_random() noexcept {
  static SystemRandom random;
  return random;
}

}  // namespace acemq
