// RabbitMQ as somebody else sees it: librabbitmq, which shares no code with ours.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

#include "amqp/transport/url.hpp"

namespace acemq::amqp {

// Where the tests find a broker. Throws without one: a run that asks for these tests must not pass without it.
inline std::string test_broker_url() {
  const char* url = std::getenv("ACEMQ_TEST_AMQP_URL");
  if (url == nullptr || *url == '\0') throw std::runtime_error("ACEMQ_TEST_AMQP_URL must name a RabbitMQ to test with");
  return url;
}

class RabbitMqPeer {
 public:
  explicit RabbitMqPeer(const Url& url = parse_url(test_broker_url())) : connection_(amqp_new_connection()) {
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    amqp_socket_t* socket = amqp_tcp_socket_new(connection_);
    if (socket == nullptr || amqp_socket_open_noblock(socket, url.host.c_str(), url.port, &patience) != AMQP_STATUS_OK)
      throw std::runtime_error("librabbitmq cannot connect to " + describe(url));
    amqp_set_rpc_timeout(connection_, &patience);
    check(
        amqp_login(connection_, url.vhost.c_str(), 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, url.user.c_str(), url.password.c_str()));
    amqp_channel_open(connection_, 1);
    check(amqp_get_rpc_reply(connection_));
  }
  ~RabbitMqPeer() {
    amqp_connection_close(connection_, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection_);
  }
  RabbitMqPeer(const RabbitMqPeer&) = delete;
  RabbitMqPeer& operator=(const RabbitMqPeer&) = delete;

  std::size_t depth(const std::string& queue) {
    const auto* state = amqp_queue_declare(connection_, 1, bytes(queue), 1, 0, 0, 0, amqp_empty_table);
    check(amqp_get_rpc_reply(connection_));
    return state->message_count;
  }
  void remove_queue(const std::string& queue) { amqp_queue_delete(connection_, 1, bytes(queue), 0, 0); }
  void remove_exchange(const std::string& exchange) { amqp_exchange_delete(connection_, 1, bytes(exchange), 0); }

  // The ids of all messages in the queue, which is empty then.
  std::vector<std::string> take_ids(const std::string& queue) {
    std::vector<std::string> ids;
    for (;;) {
      const amqp_rpc_reply_t reply = amqp_basic_get(connection_, 1, bytes(queue), 1);
      check(reply);
      if (reply.reply.id == AMQP_BASIC_GET_EMPTY_METHOD) return ids;
      amqp_message_t message;
      check(amqp_read_message(connection_, 1, &message, 0));
      ids.push_back(text(message.properties.message_id));
      amqp_destroy_message(&message);
      amqp_maybe_release_buffers(connection_);
    }
  }

  // A message with every detail in print: properties and headers as "letter:value", by name.
  struct Seen {
    std::string exchange, routing_key, body;
    std::map<std::string, std::string> properties, headers;
  };

  // The next message of the queue, waited for.
  Seen consume(const std::string& queue) {
    amqp_basic_consume(connection_, 1, bytes(queue), amqp_empty_bytes, 0, 1, 0, amqp_empty_table);
    check(amqp_get_rpc_reply(connection_));
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    amqp_envelope_t envelope;
    check(amqp_consume_message(connection_, &envelope, &patience, 0));
    Seen seen{.exchange = text(envelope.exchange),
              .routing_key = text(envelope.routing_key),
              .body = text(envelope.message.body),
              .properties = properties(envelope.message.properties),
              .headers = {}};
    if ((envelope.message.properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0)
      seen.headers = table(envelope.message.properties.headers);
    amqp_destroy_envelope(&envelope);
    return seen;
  }

 private:
  static amqp_bytes_t bytes(const std::string& value) { return amqp_cstring_bytes(value.c_str()); }
  static std::string text(amqp_bytes_t value) { return std::string(static_cast<const char*>(value.bytes), value.len); }

  static void check(const amqp_rpc_reply_t& reply) {
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw std::runtime_error("librabbitmq was refused or got no answer");
  }

  static std::map<std::string, std::string> properties(const amqp_basic_properties_t& from) {
    std::map<std::string, std::string> all;
    const auto add = [&](amqp_flags_t flag, const char* name, const std::string& value) {
      if ((from._flags & flag) != 0) all[name] = value;
    };
    add(AMQP_BASIC_CONTENT_TYPE_FLAG, "content_type", text(from.content_type));
    add(AMQP_BASIC_CONTENT_ENCODING_FLAG, "content_encoding", text(from.content_encoding));
    add(AMQP_BASIC_HEADERS_FLAG, "headers", "present");
    add(AMQP_BASIC_DELIVERY_MODE_FLAG, "delivery_mode", std::to_string(from.delivery_mode));
    add(AMQP_BASIC_PRIORITY_FLAG, "priority", std::to_string(from.priority));
    add(AMQP_BASIC_CORRELATION_ID_FLAG, "correlation_id", text(from.correlation_id));
    add(AMQP_BASIC_REPLY_TO_FLAG, "reply_to", text(from.reply_to));
    add(AMQP_BASIC_EXPIRATION_FLAG, "expiration", text(from.expiration));
    add(AMQP_BASIC_MESSAGE_ID_FLAG, "message_id", text(from.message_id));
    add(AMQP_BASIC_TIMESTAMP_FLAG, "timestamp", std::to_string(from.timestamp));
    add(AMQP_BASIC_TYPE_FLAG, "type", text(from.type));
    add(AMQP_BASIC_USER_ID_FLAG, "user_id", text(from.user_id));
    add(AMQP_BASIC_APP_ID_FLAG, "app_id", text(from.app_id));
    add(AMQP_BASIC_CLUSTER_ID_FLAG, "cluster_id", text(from.cluster_id));
    return all;
  }

  static std::map<std::string, std::string> table(const amqp_table_t& from) {
    std::map<std::string, std::string> all;
    for (int i = 0; i < from.num_entries; ++i) all[text(from.entries[i].key)] = print(from.entries[i].value);
    return all;
  }

  static std::string print(const amqp_field_value_t& field) {
    std::string printed(1, static_cast<char>(field.kind));
    printed += ':';
    switch (field.kind) {
      case AMQP_FIELD_KIND_UTF8:
        return printed + text(field.value.bytes);
      case AMQP_FIELD_KIND_I32:
        return printed + std::to_string(field.value.i32);
      case AMQP_FIELD_KIND_I64:
        return printed + std::to_string(field.value.i64);
      case AMQP_FIELD_KIND_F64:
        return printed + std::to_string(field.value.f64);
      case AMQP_FIELD_KIND_BOOLEAN:
        return printed + (field.value.boolean != 0 ? "true" : "false");
      case AMQP_FIELD_KIND_ARRAY:
        for (int i = 0; i < field.value.array.num_entries; ++i) printed += "[" + print(field.value.array.entries[i]) + "]";
        return printed;
      case AMQP_FIELD_KIND_TABLE:
        for (const auto& [name, value] : table(field.value.table)) printed += "[" + name + "=" + value + "]";
        return printed;
      default:
        return printed;
    }
  }

  amqp_connection_state_t connection_;
};

}  // namespace acemq::amqp
