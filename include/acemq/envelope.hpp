// The envelope: what every AceMQ message says about itself, in headers named x-acemq-… (CONTRACT 6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/clock.hpp"
#include "acemq/headers.hpp"

namespace acemq {

// Names that begin so belong to the envelope; an application header may not.
inline constexpr std::string_view kReservedPrefix = "x-acemq-";

// A position in a declared pipeline: all three parts or none.
struct Route {
  std::string steps = {};     // comma-separated
  std::int32_t position = 0;  // index of the next step, from 0
  std::string id = {};        // of this run
  friend bool operator==(const Route&, const Route&) = default;
};

// A plain value. Empty strings mean "absent": such a header is left out, never written empty.
struct Envelope {
  std::string id = {};             // any non-empty string; AMQP message_id and primary key
  std::string type = {};           // empty: the routing key stands in
  std::int32_t version = 1;        // of the payload's schema; below 1 counts as 1
  std::string correlation = {};    // empty: the id
  std::int32_t attempt = 1;        // below 1 counts as 1
  std::int64_t first_seen_ms = 0;  // epoch milliseconds of the first publish
  std::string causation = {};      // id of the message that caused this one
  std::string origin = {};         // service@host
  std::string error = {};          // why it was dead-lettered
  std::string claim = {};          // where a payload is, if an application says so
  std::optional<Route> route = std::nullopt;
  Headers headers = {};  // the application's own, trace context included
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

// The envelope as headers, in the family's order, then the application's. `routing_key` is the type when there is none.
Headers render(const Envelope& envelope, std::string_view routing_key);

// What a reader needs when headers are missing.
struct EnvelopeDefaults {
  std::string_view message_id;  // the AMQP property
  std::string_view routing_key;
  Timestamp now;
  std::string_view new_id;  // used when neither header nor property has an id
};

// Reads an envelope back. Tolerates everything (CONTRACT 6): a number may be an integer of any width, a double or decimal
// text; an unreadable one becomes its default. Unknown x-acemq-… headers are dropped. Never throws but for memory.
Envelope read_envelope(const Headers& headers, const EnvelopeDefaults& defaults);

}  // namespace acemq
