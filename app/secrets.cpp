#include "app/secrets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/utf8.hpp"

namespace acemq::app {
namespace {

struct Range {
  std::size_t begin, end;
};

// User and password, in whatever was typed for a URL: from behind "://", or from the start of the word when that is missing, to
// the last '@'. A password may hold an unencoded '@', '/' or blank, by mistake.
std::optional<Range> find_secret(std::string_view text) {
  constexpr std::string_view kMark = "://", kBeforeWord = " \t\n=";
  const std::size_t end = text.rfind('@');
  const std::size_t colon = text.find(':');
  if (end == std::string_view::npos || colon == std::string_view::npos || colon > end) return std::nullopt;
  if (text.substr(colon).starts_with(kMark)) return Range{std::min(colon + kMark.size(), end), end};
  return Range{text.find_last_of(kBeforeWord, colon) + 1, end};  // npos + 1 is the start
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string result(text);
  if (const auto secret = find_secret(text)) result.replace(secret->begin, secret->end - secret->begin, "***");
  return result;
}

std::string shown(std::string_view value) {
  constexpr std::size_t kCharacters = 200;
  const std::string text = base::to_storable_text(without_secrets(value));
  const std::string_view prefix = base::utf8_prefix(text, kCharacters);
  return prefix.size() == text.size() ? text : std::string(prefix) + "...";
}

void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (const auto secret = find_secret(argv[i])) std::memset(argv[i] + secret->begin, '*', secret->end - secret->begin);
  }
}

}  // namespace acemq::app
