#include "relay/policy.hpp"

#include <algorithm>
#include <string>

#include "message/reply_code.hpp"

namespace acemq::relay {
namespace {

Verdict in_doubt(const Circumstances& circumstances) {
  if (circumstances.alone && circumstances.doubts >= kDoubtsBeforeIsolation && circumstances.neighbours_fine)
    return {FailureClass::in_doubt, true, Reaction::lane_waits};
  return {FailureClass::in_doubt, false,
          circumstances.doubts >= kDoubtsBeforeIsolation ? Reaction::resend_alone : Reaction::resend};
}

std::chrono::milliseconds doubling(unsigned failures, std::chrono::seconds limit) {
  const unsigned doublings = std::min(failures == 0 ? 0U : failures - 1, 10U);
  return std::min<std::chrono::milliseconds>(std::chrono::seconds(1) * (1U << doublings), limit);
}

}  // namespace

std::string_view to_words(Incident incident) noexcept {
  switch (incident) {
    case Incident::undecodable:
      return "the row is not a message";
    case Incident::over_limit:
      return "over a limit of the connection";
    case Incident::missing_exchange:
      return "the exchange cannot be published to";
    case Incident::returned:
      return "returned by the broker: no queue is bound for it";
    case Incident::nacked:
      return "refused by the broker: queue full or unavailable";
    case Incident::channel_closed:
      return "the broker closed the channel";
    case Incident::connection_closed:
      return "the broker closed the connection";
    case Incident::connection_lost:
      return "the connection was lost";
    case Incident::confirm_timeout:
      return "not confirmed in time";
    case Incident::no_connection:
      return "no connection";
    case Incident::blocked:
      return "blocked by the broker";
    case Incident::store_error:
      return "the database failed";
  }
  return "unknown";
}

Verdict judge(Incident incident, const Circumstances& circumstances) {
  switch (incident) {
    case Incident::undecodable:
    case Incident::over_limit:
    case Incident::missing_exchange:
    case Incident::returned:
      return {FailureClass::refusal, true, Reaction::lane_waits};
    case Incident::nacked:
      return {FailureClass::overload, false, Reaction::lane_waits};
    case Incident::channel_closed:
      if (circumstances.alone && message::closes_channel_over_message(circumstances.code))
        return {FailureClass::refusal, true, Reaction::lane_waits};
      if (circumstances.alone) return in_doubt(circumstances);
      return {FailureClass::suspect, false, Reaction::resend_alone};
    case Incident::connection_closed:
      if (!message::closes_connection_over_message(circumstances.code)) return in_doubt(circumstances);
      // Others may use the same connection: being alone on the channel proves nothing before it has happened again among
      // neighbours that are fine.
      if (circumstances.alone && circumstances.neighbours_fine) return {FailureClass::refusal, true, Reaction::lane_waits};
      return {FailureClass::suspect, false, Reaction::resend_alone};
    case Incident::connection_lost:
    case Incident::confirm_timeout:
      return in_doubt(circumstances);
    case Incident::no_connection:
      return {FailureClass::outage, false, Reaction::everything_waits};
    case Incident::blocked:
      return {FailureClass::outage, false, Reaction::claiming_pauses};
    case Incident::store_error:
      return {FailureClass::store, false, Reaction::everything_waits};
  }
  return {};
}

bool may_be_guilty(const Message& message, std::uint16_t code, std::string_view text) {
  if (code == 404 || code == 403) {
    // "NOT_FOUND - no exchange 'x' in vhost '/'"; "ACCESS_REFUSED - access to exchange 'x' in vhost '/' refused …". A name may
    // itself hold a quote, so look for the whole name and not for its end.
    if (text.find("exchange '") == std::string_view::npos) return true;
    return text.find("exchange '" + message.exchange + "'") != std::string_view::npos;
  }
  if (code == 406 && text.find("message size") != std::string_view::npos)
    return text.find("message size " + std::to_string(message.body.size()) + " ") != std::string_view::npos;
  return true;
}

std::chrono::milliseconds lane_wait(unsigned failures) { return doubling(failures, std::chrono::seconds(60)); }

std::chrono::milliseconds outage_wait(unsigned failures, std::uint64_t random) {
  const auto full = doubling(failures, std::chrono::seconds(30));
  return full - std::chrono::milliseconds(static_cast<std::int64_t>(random % static_cast<std::uint64_t>(full.count() / 5 + 1)));
}

}  // namespace acemq::relay
