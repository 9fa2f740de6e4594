#include "base/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace acemq::base {
namespace {

struct Sequence {
  std::size_t bytes = 1;  // of the character; of the longest malformed start of one when it is not valid
  bool valid = false;
};

// The sequence at the start of `bytes`, which is not empty.
Sequence first_sequence(std::string_view bytes) noexcept {
  const auto at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The second byte alone decides about overlong forms, surrogates and the upper end.
  unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes.size() || at(i) < low || at(i) > high) return {i, false};
    low = 0x80;
    high = 0xbf;
  }
  return {length, true};
}

bool starts_character(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

std::size_t utf8_valid_bytes(std::string_view bytes) noexcept {
  std::size_t i = 0;
  while (i < bytes.size()) {
    // Most text is ASCII: eight bytes at a time.
    std::uint64_t word = 0;
    if (bytes.size() - i >= sizeof word) {
      std::memcpy(&word, bytes.data() + i, sizeof word);
      if ((word & 0x8080808080808080) == 0) {
        i += sizeof word;
        continue;
      }
    }
    const Sequence sequence = first_sequence(bytes.substr(i));
    if (!sequence.valid) return i;
    i += sequence.bytes;
  }
  return i;
}

bool is_utf8(std::string_view bytes) noexcept { return utf8_valid_bytes(bytes) == bytes.size(); }

bool is_storable_text(std::string_view bytes) noexcept { return bytes.find('\0') == std::string_view::npos && is_utf8(bytes); }

std::size_t utf8_length(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string_view utf8_prefix(std::string_view text, std::size_t characters) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && characters-- == 0) return text.substr(0, i);
  }
  return text;
}

std::string to_storable_text(std::string_view bytes) {
  if (is_storable_text(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const Sequence sequence = first_sequence(bytes);
    if (sequence.valid && bytes[0] != '\0') {
      text += bytes.substr(0, sequence.bytes);
    } else {
      text += "\xef\xbf\xbd";
    }
    bytes.remove_prefix(sequence.bytes);
  }
  return text;
}

}  // namespace acemq::base
