// Settings: what a flag says, else what the environment says, else a default. A wrong value is refused with the name of the
// flag or variable that it came from.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace acemq::app {

class Settings {
 public:
  using Flags = std::map<std::string, std::string, std::less<>>;  // "confirm-timeout" -> "30s"
  using Environment = std::function<const char*(const char*)>;    // as std::getenv

  Settings(Flags flags, Environment environment);

  // Each takes the setting's name, which is the flag's without its dashes. The first refuses an absent one with CommandFailure.
  std::string required(std::string_view name, std::string_view hint) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::chrono::milliseconds duration(std::string_view name, std::chrono::milliseconds fallback) const;
  std::size_t count(std::string_view name, std::size_t fallback) const;
  // The index of a word among `words`.
  std::size_t choice(std::string_view name, std::span<const std::string> words, std::size_t fallback) const;

 private:
  struct Given {
    std::string value;
    std::string source;  // "--interval" or "ACEMQ_INTERVAL"
  };
  std::optional<Given> find(std::string_view name) const;

  Flags flags_;
  Environment environment_;
};

// ACEMQ_ and the name in capitals; the broker's is ACEMQ_URL, as everywhere in the family (CONTRACT 15).
std::string environment_name(std::string_view setting);

}  // namespace acemq::app
