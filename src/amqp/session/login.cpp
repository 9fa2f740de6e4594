#include "amqp/session/login.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace acemq::amqp {
namespace {

template <class Integer>
Integer smaller_limit(Integer ours, Integer theirs) {
  if (ours == 0 || theirs == 0) return std::max(ours, theirs);
  return std::min(ours, theirs);
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return true;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return false;
}

bool has_capability(const Headers& server_properties, std::string_view name) {
  const HeaderValue* capabilities = server_properties.find("capabilities");
  if (capabilities == nullptr || capabilities->as_table() == nullptr) return false;
  const HeaderValue* capability = capabilities->as_table()->find(name);
  return capability != nullptr && capability->as_bool() != nullptr && *capability->as_bool();
}

}  // namespace

std::optional<std::string> objection_to(const ConnectionStart& start) {
  if (!has_word(start.mechanisms, "PLAIN")) return "the broker does not offer login by user name and password (PLAIN)";
  if (!has_capability(start.server_properties, "publisher_confirms")) return "the broker has no publisher confirms";
  return std::nullopt;
}

Headers client_properties(const std::string& client_name) {
  return {{"product", "acemq"},
          {"platform", "C++"},
          {"connection_name", client_name},
          {"capabilities", Headers{{"publisher_confirms", true},
                                   {"exchange_exchange_bindings", true},
                                   {"basic.nack", true},
                                   {"consumer_cancel_notify", true},
                                   {"connection.blocked", true},
                                   {"authentication_failure_close", true}}}};
}

ConnectionTune negotiate(const SessionOptions& ours, const ConnectionTune& theirs) {
  ConnectionTune agreed;
  agreed.channel_max = smaller_limit(ours.channel_max, theirs.channel_max);
  if (agreed.channel_max == 0) agreed.channel_max = 0xFFFF;
  agreed.frame_max = std::max(smaller_limit(ours.frame_max, theirs.frame_max), kFrameMaxFloor);
  // Without a wish of the broker's ours counts; without one of ours there are no heartbeats at all.
  const auto heartbeat = static_cast<std::uint16_t>(std::clamp<std::int64_t>(ours.heartbeat.count(), 0, 0xFFFF));
  if (heartbeat != 0) agreed.heartbeat = smaller_limit(heartbeat, theirs.heartbeat);
  return agreed;
}

}  // namespace acemq::amqp
