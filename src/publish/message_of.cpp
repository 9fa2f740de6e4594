#include "publish/message_of.hpp"

#include <utility>

#include "outbox/record_rules.hpp"

namespace acemq::publish {

Message message_of(outbox::Record&& record, bool mandatory) {
  return {.exchange = std::move(record.exchange),
          .routing_key = std::move(record.routing_key),
          .message_id = std::move(record.id),
          .content_type = std::move(record.content_type),
          .headers = std::move(record.headers),
          .body = std::move(record.body),
          .mandatory = mandatory};
}

void check(const Message& message) {
  outbox::check_fields(message.message_id, message.exchange, message.routing_key, message.content_type, message.headers);
}

}  // namespace acemq::publish
