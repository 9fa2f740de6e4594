// What a failure means and what follows from it (DESIGN 5.3): pure functions, one test per row of the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "acemq/error.hpp"
#include "acemq/transport.hpp"

namespace acemq::relay {

enum class Incident {
  undecodable,       // the row is no message: bad base64, bad headers
  over_limit,        // the connection cannot carry it
  missing_exchange,  // asked beforehand: 404 or 403
  returned,          // acknowledged, but no queue wanted it
  nacked,
  channel_closed,     // by the broker, with a code
  connection_closed,  // by the broker, with a code
  connection_lost,
  confirm_timeout,
  no_connection,  // cannot be opened: refused, DNS, TLS, login
  blocked,
  store_error,
};

// In words, for last_error.
std::string_view to_words(Incident incident) noexcept;

// What is known when a record that was sent meets an incident.
struct Circumstances {
  std::uint16_t code = 0;
  bool alone = false;            // nothing else was unconfirmed
  unsigned doubts = 0;           // how often in a row it was left in doubt, this time included
  bool neighbours_fine = false;  // a record sent before it and one sent after it were confirmed
};

enum class Reaction {
  lane_waits,        // its lane stops; after a while its head alone
  everything_waits,  // rows are given back; try again after a back-off
  claiming_pauses,   // until the broker unblocks
  resend,            // on a new channel, in order
  resend_alone,      // on a new channel, with nothing else in flight
};

struct Verdict {
  FailureClass failure_class = FailureClass::outage;
  bool counts = false;  // as an attempt
  Reaction then = Reaction::everything_waits;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

Verdict judge(Incident incident, const Circumstances& circumstances);

// Whether a message may be what made the broker close a channel with this code and text. RabbitMQ names the exchange (404, 403)
// or the size (406) but never the message; when in doubt, true.
bool may_be_guilty(const Message& message, std::uint16_t code, std::string_view text);

// How often in a row a record may be left in doubt before it is sent alone.
inline constexpr unsigned kDoubtsBeforeIsolation = 3;

// How long a lane waits after its `failures`-th failure in a row: 1 s, doubling up to 60 s.
std::chrono::milliseconds lane_wait(unsigned failures);
// How long everything waits after the `failures`-th outage in a row: 1 s, doubling up to 30 s, less up to a fifth by `random`, so
// that many relays do not return at once.
std::chrono::milliseconds outage_wait(unsigned failures, std::uint64_t random);

}  // namespace acemq::relay
