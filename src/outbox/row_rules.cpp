#include "outbox/row_rules.hpp"

#include <algorithm>
#include <cstddef>

#include "acemq/error.hpp"
#include "base/base64.hpp"
#include "base/utf8.hpp"

namespace acemq::outbox {

StoredBody encode_body(std::string_view bytes) {
  if (base::is_storable_text(bytes)) return {std::string(bytes), kUtf8};
  return {base::base64_encode(bytes), kBase64};
}

std::optional<std::string> decode_body(std::string_view text, std::string_view encoding) {
  if (encoding == kUtf8) return std::string(text);
  if (encoding == kBase64) return base::base64_decode(text);
  return std::nullopt;
}

std::string to_last_error(std::string_view reason) {
  constexpr std::size_t kCharactersMax = 1000;
  constexpr std::string_view kEllipsis = "...";
  std::string text = base::to_storable_text(reason);
  if (base::utf8_length(text) <= kCharactersMax) return text;
  text.resize(base::utf8_prefix(text, kCharactersMax - kEllipsis.size()).size());
  return text.append(kEllipsis);
}

void check_table_name(std::string_view table) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_word = [&](char c) { return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  if (table.empty() || table.size() > 63 || is_digit(table[0]) || !std::all_of(table.begin(), table.end(), is_word)) {
    throw InvalidConfiguration("table", "must be a letter or underscore, then at most 62 letters, digits or underscores", table);
  }
}

}  // namespace acemq::outbox
