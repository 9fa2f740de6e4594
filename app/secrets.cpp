#include "app/secrets.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>

namespace acemq::app {
namespace {

struct Range {
  std::size_t begin, end;
};

// From behind "://" to the last '@' before a space: a password may hold an unencoded '@' or '/', by mistake.
std::optional<Range> find_secret(std::string_view text, std::size_t from) {
  constexpr std::string_view kMark = "://";
  for (std::size_t at; (at = text.find(kMark, from)) != std::string_view::npos; from = at) {
    at += kMark.size();
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    const std::size_t last = text.substr(at, end - at).rfind('@');
    if (last != std::string_view::npos) return Range{at, at + last};
  }
  return std::nullopt;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  while (const auto secret = find_secret(text, at)) {
    result.append(text.substr(at, secret->begin - at)).append("***");
    at = secret->end;
  }
  return result.append(text.substr(at));
}

void hide_secrets(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    std::size_t at = 0;
    while (const auto secret = find_secret(argument, at)) {
      std::memset(argv[i] + secret->begin, '*', secret->end - secret->begin);
      at = secret->end;
    }
  }
}

}  // namespace acemq::app
