// A record: a message that waits in the outbox of the transaction that wrote it.
//
//   acemq::outbox::add(transaction, acemq::outbox::record(shop, R"({"order":"A-1"})",
//       {.to = "order.placed", .exchange = "shop-events", .type = "order.placed.v2"}));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/clock.hpp"
#include "acemq/headers.hpp"
#include "acemq/message_factory.hpp"

namespace acemq::outbox {

// What the application writes. A plain value; made by record(), which is where it is checked.
struct Record {
  std::string id = {};            // 1 to 64 characters; primary key, AMQP message_id and x-acemq-id
  std::string exchange = {};      // at most 255 bytes; empty is the default exchange
  std::string routing_key = {};   // at most 255 bytes; for the default exchange the name of a queue
  std::string content_type = {};  // at most 255 bytes
  Headers headers = {};           // rendered envelope and application headers
  std::string body = {};          // bytes
  Timestamp created_at = {};
};

struct RecordOptions {
  std::string to = {};  // routing key; the queue, when exchange is empty
  std::string exchange = {};
  std::string type = {};  // empty: the routing key
  std::int32_t version = 1;
  std::string id = {};           // empty: a new UUID. Give one to make a retried request harmless.
  std::string correlation = {};  // empty: the id
  std::string causation = {};
  Headers headers = {};  // the application's own
  // A whole envelope instead of the fields from `type` down; giving both is an error.
  std::optional<Envelope> envelope = std::nullopt;
};

// Makes a record from bytes that are encoded already; record() is the usual way.
// Throws InvalidRecord as record() does.
Record make_record(const MessageOrigin& origin, std::string body, std::string_view content_type, RecordOptions options);

// Encodes `payload` now, with the factory's codec, and checks everything that a table or a broker could refuse later
// (CONTRACT 2.5): short strings by bytes, header names, reserved names, nesting, NaN and infinity, headers of at most 120 KiB
// as JSON and on the wire, the body's size. No input or output of any kind happens here. Thread-safe as the factory is.
// Throws InvalidRecord with the field, the rule and the value, and whatever the codec throws.
template <class Codec, CodecPayload<Codec> Payload>
Record record(const BasicMessageFactory<Codec>& factory, const Payload& payload, RecordOptions options) {
  return make_record(factory, factory.codec().encode(payload), factory.codec().content_type(), std::move(options));
}

// The same with a codec for this record only.
template <class FactoryCodec, class Codec, CodecPayload<Codec> Payload>
Record record(const BasicMessageFactory<FactoryCodec>& factory, const Payload& payload, RecordOptions options,
              const Codec& codec) {
  return make_record(factory, codec.encode(payload), codec.content_type(), std::move(options));
}

// Throws InvalidRecord for a record that was put together by hand and breaks a rule. insert_statement() and every add() call it.
void check(const Record& record);

}  // namespace acemq::outbox
