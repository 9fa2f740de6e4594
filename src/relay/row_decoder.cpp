#include "relay/row_decoder.hpp"

#include <utility>

#include "message/limits.hpp"
#include "outbox/row_rules.hpp"
#include "relay/headers_parser.hpp"

namespace acemq::relay {
namespace {

// The broker would answer these by closing the connection, neighbours and all.
void check_wire_limits(const Message& message) {
  message::check_short_string("exchange_name", message.exchange);
  message::check_short_string("routing_key", message.routing_key);
  message::check_short_string("id", message.message_id);
  message::check_short_string("content_type", message.content_type);
}

std::string encoding_defect(std::string_view encoding) {
  if (encoding == outbox::kBase64) return "body is not valid base64";
  return "body_encoding is neither utf-8 nor base64 but '" + std::string(encoding.substr(0, 16)) + "'";
}

}  // namespace

Message decode_row(outbox::Row&& row, std::string& defect) {
  Message message{.exchange = std::move(row.exchange),
                  .routing_key = std::move(row.routing_key),
                  .message_id = std::move(row.id),
                  .content_type = std::move(row.content_type),
                  .headers = {},
                  .body = {}};
  try {
    check_wire_limits(message);
  } catch (const InvalidRecord& error) {
    defect = error.what();
    return message;
  }
  auto body = outbox::decode_body(row.body, row.body_encoding);
  if (!body) {
    defect = encoding_defect(row.body_encoding);
    return message;
  }
  message.body = std::move(*body);
  if (auto headers = parse_headers(row.headers, defect)) message.headers = std::move(*headers);
  return message;
}

}  // namespace acemq::relay
