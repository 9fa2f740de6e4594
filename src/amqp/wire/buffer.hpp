// AMQP's elementary types: big-endian integers, short and long strings (AMQP 0-9-1, 4.2.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace acemq::amqp {

inline constexpr std::size_t kShortStringMax = 255;  // its length is one byte

// Appends to a string it does not own. The first value that cannot be expressed leaves a reason in error(); whoever began the
// frame then takes it back whole, so that limits are found in the same pass that encodes.
class Writer {
 public:
  explicit Writer(std::string& out) noexcept : out_(out) {}

  void u8(std::uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void u16(std::uint16_t value) { integer<2>(value); }
  void u32(std::uint32_t value) { integer<4>(value); }
  void u64(std::uint64_t value) { integer<8>(value); }
  void bytes(std::string_view value) { out_.append(value); }

  // `field` names the value in the reason.
  void short_string(std::string_view field, std::string_view value) {
    if (value.size() > kShortStringMax) {
      fail(std::string(field) + " of " + std::to_string(value.size()) + " bytes, at most 255 are possible");
      return;
    }
    u8(static_cast<std::uint8_t>(value.size()));
    bytes(value);
  }

  void long_string(std::string_view value) {
    u32(static_cast<std::uint32_t>(value.size()));
    bytes(value);
  }

  // A length that is known only later: begin_length() leaves room, end_length() counts what was written since.
  std::size_t begin_length() {
    u32(0);
    return out_.size();
  }
  void end_length(std::size_t begin) {
    const std::size_t length = out_.size() - begin;
    for (std::size_t i = 0; i < 4; ++i) out_[begin - 1 - i] = static_cast<char>(length >> (8 * i));
  }

  void fail(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
  }
  const std::string& error() const noexcept { return error_; }

 private:
  template <std::size_t Size>
  void integer(std::uint64_t value) {
    char bytes[Size];
    for (std::size_t i = 0; i < Size; ++i) bytes[i] = static_cast<char>(value >> (8 * (Size - 1 - i)));
    out_.append(bytes, Size);
  }

  std::string& out_;
  std::string error_;
};

// Reads bytes it does not own and does not trust. A read past the end gives zero or an empty string and makes ok() false for
// good, so that callers ask once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) noexcept : rest_(bytes) {}

  bool ok() const noexcept { return ok_; }
  bool at_end() const noexcept { return rest_.empty(); }
  void fail() noexcept {
    ok_ = false;
    rest_ = {};
  }

  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(integer(1)); }
  std::uint16_t u16() noexcept { return static_cast<std::uint16_t>(integer(2)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() noexcept { return integer(8); }
  std::string_view short_string() noexcept { return bytes(u8()); }
  std::string_view long_string() noexcept { return bytes(u32()); }

  std::string_view bytes(std::size_t size) noexcept {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::uint64_t integer(std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (const char byte : bytes(size)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace acemq::amqp
