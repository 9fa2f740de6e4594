#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace acemq::base {

// How many bytes from the start are well-formed UTF-8 (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above
// U+10FFFF. The position of the first malformed byte, or the size.
std::size_t utf8_valid_bytes(std::string_view bytes) noexcept;
bool is_utf8(std::string_view bytes) noexcept;
// Well-formed and without U+0000, which PostgreSQL refuses in text (CONTRACT 2.1).
bool is_storable_text(std::string_view bytes) noexcept;
// Number of code points; `text` must be well-formed.
std::size_t utf8_length(std::string_view text) noexcept;
// At most `characters` code points from the start; `text` must be well-formed.
std::string_view utf8_prefix(std::string_view text, std::size_t characters) noexcept;
// Every malformed sequence and every U+0000 becomes U+FFFD.
std::string to_storable_text(std::string_view bytes);

}  // namespace acemq::base
