#include "acemq/outbox/record.hpp"

#include <chrono>
#include <utility>

#include "acemq/error.hpp"
#include "message/limits.hpp"
#include "outbox/record_rules.hpp"

namespace acemq::outbox {
namespace {

// The fields of `options` that an envelope stands in for and that are set all the same.
std::string fields_beside_envelope(const RecordOptions& options) {
  std::string names;
  const auto note = [&names](bool given, const char* name) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  note(!options.type.empty(), "type");
  note(options.version != RecordOptions{}.version, "version");
  note(!options.id.empty(), "id");
  note(!options.correlation.empty(), "correlation");
  note(!options.causation.empty(), "causation");
  note(!options.headers.empty(), "headers");
  return names;
}

Envelope envelope_of(RecordOptions& options) {
  if (options.envelope) {
    if (const std::string names = fields_beside_envelope(options); !names.empty()) {
      throw InvalidRecord("envelope", "must not be given together with the fields that it holds: " + names, "");
    }
    return std::move(*options.envelope);
  }
  Envelope envelope;
  envelope.type = std::move(options.type);
  envelope.version = options.version;
  envelope.id = std::move(options.id);
  envelope.correlation = std::move(options.correlation);
  envelope.causation = std::move(options.causation);
  envelope.headers = std::move(options.headers);
  return envelope;
}

// What is absent becomes what a new envelope has.
void complete(Envelope& envelope, const MessageOrigin& origin, Timestamp created_at) {
  if (envelope.id.empty()) envelope.id = origin.new_envelope().id;
  if (envelope.origin.empty()) envelope.origin = origin.origin();
  if (envelope.first_seen_ms == 0) {
    envelope.first_seen_ms = std::chrono::floor<std::chrono::milliseconds>(created_at).time_since_epoch().count();
  }
}

void check_route(const Route& route) {
  if (route.steps.empty() || route.id.empty() || route.position < 0) {
    throw InvalidRecord("route", "must have steps, a position of at least 0 and an id, or be absent", route.steps);
  }
  message::check_text("route.steps", route.steps);
  message::check_short_string("route.id", route.id);
}

void check_envelope(const Envelope& envelope) {
  message::check_id("id", envelope.id);
  message::check_short_string("type", envelope.type);
  message::check_short_string("correlation", envelope.correlation);
  message::check_short_string("causation", envelope.causation);
  message::check_short_string("origin", envelope.origin);
  message::check_text("error", envelope.error);
  message::check_text("claim", envelope.claim);
  if (envelope.route) check_route(*envelope.route);
  message::check_application_headers(envelope.headers);
}

void check_address(std::string_view key_field, std::string_view exchange, std::string_view routing_key) {
  message::check_short_string("exchange", exchange);
  message::check_short_string(key_field, routing_key);
  if (exchange.empty() && routing_key.empty()) {
    throw InvalidRecord(std::string(key_field), "must name a queue when exchange is empty", "");
  }
}

void check_body_size(std::size_t bytes, std::size_t bytes_max) {
  if (bytes > bytes_max) {
    throw InvalidRecord("body", "must have at most " + std::to_string(bytes_max) + " bytes, not " + std::to_string(bytes), "");
  }
}

}  // namespace

Record make_record(const MessageOrigin& origin, std::string body, std::string_view content_type, RecordOptions options) {
  check_body_size(body.size(), origin.body_bytes_max());
  check_address("to", options.exchange, options.to);
  message::check_short_string("content_type", content_type);

  const Timestamp created_at = origin.next_created_at();
  Envelope envelope = envelope_of(options);
  complete(envelope, origin, created_at);
  origin.decorate(envelope.headers);
  check_envelope(envelope);

  Headers headers = render(envelope, options.to);
  message::check_headers_size(headers);
  return {.id = std::move(envelope.id),
          .exchange = std::move(options.exchange),
          .routing_key = std::move(options.to),
          .content_type = std::string(content_type),
          .headers = std::move(headers),
          .body = std::move(body),
          .created_at = created_at};
}

void check_fields(std::string_view id, std::string_view exchange, std::string_view routing_key, std::string_view content_type,
                  const Headers& headers) {
  message::check_id("id", id);
  check_address("routing_key", exchange, routing_key);
  message::check_short_string("content_type", content_type);
  message::check_headers(headers);
  message::check_headers_size(headers);
  // Two ids would give the consumer's deduplication another key than the table's.
  const HeaderValue* id_header = headers.find("x-acemq-id");
  if (id_header && *id_header != HeaderValue(id)) {
    throw InvalidRecord("headers", "must say the record's own id in x-acemq-id, which is " + std::string(id), "");
  }
}

void check(const Record& record) {
  check_fields(record.id, record.exchange, record.routing_key, record.content_type, record.headers);
}

}  // namespace acemq::outbox
