// What a table and a broker can take (CONTRACT 2.2, 2.5; AMQP 0-9-1, 4.2.5). One place, used by whoever accepts a message.
#pragma once

#include <cstddef>
#include <string_view>

#include "acemq/headers.hpp"

namespace acemq::message {

inline constexpr std::size_t kShortStringBytesMax = 255;  // AMQP short string: bytes, not characters
inline constexpr std::size_t kIdCharactersMax = 64;
inline constexpr std::size_t kHeaderNestingMax = 32;
inline constexpr std::size_t kHeadersBytesMax = 120 * 1024;  // as JSON in the row, and as an AMQP table: below one frame

// Each throws InvalidRecord with `field`, the rule and the value.
void check_id(std::string_view field, std::string_view id);
// At most 255 bytes of UTF-8 without NUL; may be empty.
void check_short_string(std::string_view field, std::string_view value);
// UTF-8 without NUL, of any length; may be empty.
void check_text(std::string_view field, std::string_view value);
// Names of 1 to 255 bytes; values that survive a row: UTF-8 text without NUL, finite doubles, nesting of at most 32, this
// table included; CC and BCC as RabbitMQ wants them, lists of strings. `field` is "headers".
void check_headers(const Headers& headers);
// The same, and no name has the reserved prefix.
void check_application_headers(const Headers& headers);
// The whole rendered table: at most 120 KiB, as JSON and on the wire.
void check_headers_size(const Headers& headers);
// Bytes that the table takes in an AMQP frame, its length prefix included. Integers are counted as they are written.
std::size_t amqp_table_bytes(const Headers& headers) noexcept;

}  // namespace acemq::message
