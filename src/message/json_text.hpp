#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace acemq::message {

inline constexpr std::size_t kJsonNestingMax = 512;

struct JsonFault {
  std::size_t offset = 0;   // of the first byte that cannot stand where it stands; the size when the text ends too early
  std::string_view reason;  // what is wrong there, as in "expected a value"
};

// Where `text` stops being JSON (RFC 8259, UTF-8, nesting of at most 512); nothing when it is. Builds no values.
std::optional<JsonFault> find_json_fault(std::string_view text);

}  // namespace acemq::message
