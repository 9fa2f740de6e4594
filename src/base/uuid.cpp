#include "base/uuid.hpp"

#include <cstdint>

namespace acemq::base {

std::string new_uuid(Random& random) {
  constexpr std::uint64_t kVersion4 = 0x4000, kVariant = 0x8000'0000'0000'0000;
  const std::uint64_t high = (random.next() & ~std::uint64_t{0xf000}) | kVersion4;
  const std::uint64_t low = (random.next() & ~(std::uint64_t{3} << 62)) | kVariant;
  std::string text;
  text.reserve(36);
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) text += '-';
    const std::uint64_t half = digit < 16 ? high : low;
    text += "0123456789abcdef"[half >> (60 - 4 * (digit % 16)) & 15];
  }
  return text;
}

}  // namespace acemq::base
