#include "app/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "app/failure.hpp"
#include "app/secrets.hpp"
#include "app/spelling.hpp"

namespace acemq::app {
namespace {

[[noreturn]] void refuse(const std::string& source, const std::string& rule, std::string_view value, std::string hint = {}) {
  throw CommandFailure(kUsage, source + " must be " + rule + "; given: " + shown(value), std::move(hint));
}

// The whole number at the start of `text`, and what follows it.
std::optional<std::pair<std::uint64_t, std::string_view>> leading_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

// Nothing for an unknown unit.
std::optional<std::uint64_t> milliseconds_in(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  for (const auto& [name, milliseconds] : kUnits) {
    if (unit == name) return milliseconds;
  }
  return std::nullopt;
}

}  // namespace

std::string environment_name(std::string_view setting) {
  if (setting == "broker") return "ACEMQ_URL";
  std::string name = "ACEMQ_";
  for (const char c : setting) name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

Settings::Settings(Flags flags, Environment environment) : flags_(std::move(flags)), environment_(std::move(environment)) {}

std::optional<Settings::Given> Settings::find(std::string_view name) const {
  if (const auto flag = flags_.find(name); flag != flags_.end()) return Given{flag->second, "--" + flag->first};
  const std::string variable = environment_name(name);
  // An empty variable counts as absent: there is no other way to unset one in many a unit file.
  if (const char* value = environment_(variable.c_str()); value != nullptr && *value != '\0') return Given{value, variable};
  return std::nullopt;
}

std::string Settings::required(std::string_view name, std::string_view hint) const {
  if (auto given = find(name)) return given->value;
  throw CommandFailure(kUsage, "--" + std::string(name) + " (or " + environment_name(name) + ") is needed", std::string(hint));
}

std::string Settings::text(std::string_view name, std::string_view fallback) const {
  const auto given = find(name);
  return given ? given->value : std::string(fallback);
}

std::chrono::milliseconds Settings::duration(std::string_view name, std::chrono::milliseconds fallback) const {
  constexpr std::uint64_t kNumberMax = 1'000'000'000;
  const auto given = find(name);
  if (!given) return fallback;
  const auto number = leading_number(given->value);
  const auto unit = number ? milliseconds_in(number->second) : std::nullopt;
  if (!unit || number->first > kNumberMax)
    refuse(given->source, "a whole number with its unit: 500ms, 30s, 5m or 1h", given->value);
  return std::chrono::milliseconds(number->first * *unit);
}

std::size_t Settings::count(std::string_view name, std::size_t fallback) const {
  const auto given = find(name);
  if (!given) return fallback;
  const auto number = leading_number(given->value);
  constexpr std::uint64_t kNumberMax = std::numeric_limits<std::int32_t>::max();
  if (!number || !number->second.empty() || number->first > kNumberMax) refuse(given->source, "a whole number", given->value);
  return static_cast<std::size_t>(number->first);
}

std::size_t Settings::choice(std::string_view name, std::span<const std::string> words, std::size_t fallback) const {
  const auto given = find(name);
  if (!given) return fallback;
  const auto found = std::find(words.begin(), words.end(), given->value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : &word == &words.back() ? " or " : ", ") + word;
  const std::string near = nearest(given->value, words);
  refuse(given->source, list, given->value, near.empty() ? "" : "did you mean " + near + "?");
}

}  // namespace acemq::app
