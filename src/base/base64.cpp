#include "base/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace acemq::base {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kInvalid = 0xff;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kInvalid);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}
constexpr std::array<std::uint8_t, 256> kValues = make_values();

constexpr std::uint32_t byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto put = [&text](std::uint32_t group, int digits) {
    for (int i = 0; i < digits; ++i) text += kAlphabet[(group >> (18 - 6 * i)) & 63];
    text.append(static_cast<std::size_t>(4 - digits), '=');
  };
  std::size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) put(byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2), 4);
  if (bytes.size() - i == 2) put(byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8, 3);
  if (bytes.size() - i == 1) put(byte_at(bytes, i) << 16, 2);
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') ++padding;

  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  const std::size_t digits = text.size() - padding;
  std::uint32_t bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(text[i])];
    if (value == kInvalid) return std::nullopt;
    bits = (bits << 6 | value) & 0xffffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 0xff);
    }
  }
  // What is left over must be zero, else two texts would stand for the same bytes.
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace acemq::base
