// How a record becomes a row and what a row's columns may hold (CONTRACT 1.4, 2.1, 2.4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acemq::outbox {

struct StoredBody {
  std::string text;
  std::string_view encoding;  // kUtf8 or kBase64
};
inline constexpr std::string_view kUtf8 = "utf-8";
inline constexpr std::string_view kBase64 = "base64";

StoredBody encode_body(std::string_view bytes);
// The bytes; nothing for an unknown encoding or text that is not strict base64.
std::optional<std::string> decode_body(std::string_view text, std::string_view encoding);
// At most 1000 characters: the first 997 and "..."; malformed UTF-8 and NULs replaced.
std::string to_last_error(std::string_view reason);
// Throws InvalidConfiguration{"table"} unless [A-Za-z_][A-Za-z0-9_]{0,62}, whole string.
void check_table_name(std::string_view table);

}  // namespace acemq::outbox
