// AmqpTransport: RabbitMQ over AMQP 0-9-1, on a connection and an I/O thread of its own.
//
//   auto broker = std::make_shared<acemq::AmqpTransport>("amqp://shop:secret@mq.example/%2f");
//   acemq::outbox::Relay relay{store, broker};
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "acemq/headers.hpp"
#include "acemq/transport.hpp"

namespace acemq {

struct AmqpOptions {
  // Shown in the broker's list of connections.
  std::string client_name = "acemq";
  // Each part of opening has a deadline of its own; 1 ms … 10 min.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(10);    // name resolution and TCP
  std::chrono::milliseconds handshake_timeout = std::chrono::seconds(10);  // protocol and TLS
  // Also how long a connection may leave questions unanswered before it is given up for dead.
  std::chrono::milliseconds login_timeout = std::chrono::seconds(10);
  // What we offer; the smaller of ours and the broker's counts. 0 switches heartbeats off: a dead peer is then noticed by the
  // confirm timeout only.
  std::chrono::seconds heartbeat = std::chrono::seconds(30);
  std::uint32_t frame_max = 131072;  // bytes; 4096 at least
  std::uint16_t channel_max = 64;
};

// An exchange or queue as declared, for programs that set up their own topology (examples, tests, small services).
struct ExchangeDeclaration {
  std::string name = {};
  std::string type = "topic";
  bool durable = true;
  bool auto_delete = false;
  bool passive = false;  // only ask whether it exists
  Headers arguments = {};
};

struct QueueDeclaration {
  std::string name = {};
  bool durable = true;
  bool exclusive = false;
  bool auto_delete = false;
  bool passive = false;
  Headers arguments = {};
};

struct QueueBinding {
  std::string queue = {};
  std::string exchange = {};
  std::string routing_key = {};
  Headers arguments = {};
};

class AmqpTransport final : public Transport {
 public:
  // Parses only; connects when a channel is opened. `url` is amqp://user:password@host:port/vhost, each part percent-encoded as
  // needed, IPv6 hosts in brackets; no path means the vhost "/", and an absent part its usual default (guest, localhost, 5672).
  // As in RabbitMQ's URI specification "amqp://host/" names the empty vhost; "/" itself is written %2f. Throws
  // InvalidConfiguration without any secret in it.
  explicit AmqpTransport(std::string_view url, AmqpOptions options = {});
  // Says goodbye to the broker for a bounded time (one second), then closes the socket and ends the thread.
  ~AmqpTransport() override;
  AmqpTransport(const AmqpTransport&) = delete;
  AmqpTransport& operator=(const AmqpTransport&) = delete;

  std::unique_ptr<PublishChannel> publish_channel() override;
  std::string description() const override;

  // Each connects when needed, uses a channel of its own and waits for the broker's answer, for at most `deadline`.
  // Throws PublishError with the broker's code and words. Thread-safe.
  void declare(const ExchangeDeclaration& exchange, std::chrono::milliseconds deadline = std::chrono::seconds(10));
  void declare(const QueueDeclaration& queue, std::chrono::milliseconds deadline = std::chrono::seconds(10));
  void bind(const QueueBinding& binding, std::chrono::milliseconds deadline = std::chrono::seconds(10));

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace acemq
