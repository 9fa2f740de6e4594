#include "acemq/envelope.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace acemq {
namespace {

constexpr std::string_view kId = "x-acemq-id", kType = "x-acemq-type", kVersion = "x-acemq-version",
                           kCorrelation = "x-acemq-correlation", kAttempt = "x-acemq-attempt", kFirstSeen = "x-acemq-first-seen",
                           kCausation = "x-acemq-causation", kOrigin = "x-acemq-origin", kError = "x-acemq-error",
                           kClaim = "x-acemq-claim", kRoute = "x-acemq-route", kRoutePosition = "x-acemq-route-position",
                           kRouteId = "x-acemq-route-id";

// Others may have written a number in any width, as a double or as decimal text.
std::optional<std::int64_t> to_integer(const HeaderValue& value) {
  if (const auto* integer = value.as_int()) return *integer;
  if (const auto* real = value.as_double()) {
    constexpr double kEnd = 9223372036854775808.0;  // 2^63
    if (*real >= -kEnd && *real < kEnd && std::trunc(*real) == *real) return static_cast<std::int64_t>(*real);
  }
  if (const auto* text = value.as_string()) {
    std::int64_t integer = 0;
    const char* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, integer);
    if (parsed.ec == std::errc() && parsed.ptr == end) return integer;
  }
  return std::nullopt;
}

std::optional<std::int64_t> integer_of(const Headers& headers, std::string_view name) {
  const HeaderValue* value = headers.find(name);
  return value ? to_integer(*value) : std::nullopt;
}

std::optional<std::int32_t> small_integer_of(const Headers& headers, std::string_view name) {
  const auto value = integer_of(headers, name);
  if (!value || !std::in_range<std::int32_t>(*value)) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::string text_of(const Headers& headers, std::string_view name, std::string_view fallback = {}) {
  if (const HeaderValue* value = headers.find(name)) {
    if (const auto* text = value->as_string(); text && !text->empty()) return *text;
    if (const auto* integer = value->as_int()) return std::to_string(*integer);
  }
  return std::string(fallback);
}

// All three parts or none.
std::optional<Route> route_of(const Headers& headers) {
  Route route{.steps = text_of(headers, kRoute), .id = text_of(headers, kRouteId)};
  const auto position = small_integer_of(headers, kRoutePosition);
  if (route.steps.empty() || route.id.empty() || !position || *position < 0) return std::nullopt;
  route.position = *position;
  return route;
}

// Text when both are empty, as the Java library has it: a type is always written, and never empty.
std::string type_of(const Envelope& envelope, std::string_view routing_key) {
  if (!envelope.type.empty()) return envelope.type;
  return routing_key.empty() ? "message" : std::string(routing_key);
}

}  // namespace

Headers render(const Envelope& envelope, std::string_view routing_key) {
  Headers headers;
  const auto put = [&headers](std::string_view name, HeaderValue value) {
    headers.append_unique(std::string(name), std::move(value));
  };
  const auto put_text = [&put](std::string_view name, const std::string& value) {
    if (!value.empty()) put(name, value);
  };
  put(kId, envelope.id);
  put(kType, type_of(envelope, routing_key));
  put(kVersion, std::max(envelope.version, 1));
  put(kCorrelation, envelope.correlation.empty() ? envelope.id : envelope.correlation);
  put(kAttempt, std::max(envelope.attempt, 1));
  put(kFirstSeen, envelope.first_seen_ms);
  put_text(kCausation, envelope.causation);
  put_text(kOrigin, envelope.origin);
  put_text(kError, envelope.error);
  put_text(kClaim, envelope.claim);
  if (const auto& route = envelope.route; route && !route->steps.empty() && !route->id.empty()) {
    put(kRoute, route->steps);
    put(kRoutePosition, route->position);
    put(kRouteId, route->id);
  }
  for (const auto& [name, value] : envelope.headers) {
    if (!name.starts_with(kReservedPrefix)) put(name, value);
  }
  return headers;
}

Envelope read_envelope(const Headers& headers, const EnvelopeDefaults& defaults) {
  Envelope envelope;
  envelope.id = text_of(headers, kId, defaults.message_id.empty() ? defaults.new_id : defaults.message_id);
  envelope.type = text_of(headers, kType, defaults.routing_key);
  envelope.version = std::max(small_integer_of(headers, kVersion).value_or(1), 1);
  envelope.correlation = text_of(headers, kCorrelation, envelope.id);
  envelope.attempt = std::max(small_integer_of(headers, kAttempt).value_or(1), 1);
  const auto now_ms = std::chrono::floor<std::chrono::milliseconds>(defaults.now).time_since_epoch().count();
  envelope.first_seen_ms = integer_of(headers, kFirstSeen).value_or(now_ms);
  envelope.causation = text_of(headers, kCausation);
  envelope.origin = text_of(headers, kOrigin);
  envelope.error = text_of(headers, kError);
  envelope.claim = text_of(headers, kClaim);
  envelope.route = route_of(headers);
  for (const auto& [name, value] : headers) {
    if (!name.starts_with(kReservedPrefix)) envelope.headers.append_unique(name, value);
  }
  return envelope;
}

}  // namespace acemq
