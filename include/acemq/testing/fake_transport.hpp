#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "acemq/testing/manual_clock.hpp"
#include "acemq/transport.hpp"

namespace acemq::testing {

// A broker that answers as RabbitMQ was seen to, without a socket, a thread or a sleep: when nothing has happened, poll() lets
// the clock pass by its timeout instead of waiting. Shared by all its channels, so that a test can look inside. Thread-safe.
//
//   broker->script([](const acemq::Message& m, std::size_t copy) {
//     return m.routing_key == "order.lost" ? Answer::drop() : Answer::confirm();
//   });
class FakeTransport final : public Transport {
 public:
  // What becomes of one published message.
  struct Answer {
    enum class Kind { confirm, nack, unroutable, refuse, drop, close_channel, close_connection };
    Kind kind = Kind::confirm;
    std::uint16_t code = 0;
    std::string text = {};

    static Answer confirm() { return {}; }
    static Answer nack() { return {.kind = Kind::nack}; }
    static Answer unroutable() { return {.kind = Kind::unroutable, .code = 312, .text = "NO_ROUTE"}; }
    // Over a limit of the connection: nothing is sent.
    static Answer refuse(std::string why) { return {.kind = Kind::refuse, .text = std::move(why)}; }
    // In the queue, but the confirm is lost on the way.
    static Answer drop() { return {.kind = Kind::drop}; }
    // As RabbitMQ: what came before on this channel stays in the queues but is not acknowledged any more, what comes behind is
    // ignored, this message itself is not queued.
    static Answer close_channel(std::uint16_t code, std::string text) {
      return {.kind = Kind::close_channel, .code = code, .text = std::move(text)};
    }
    // The same for the connection.
    static Answer close_connection(std::uint16_t code, std::string text) {
      return {.kind = Kind::close_connection, .code = code, .text = std::move(text)};
    }
  };
  // Decides for each message; `copy` counts the publishes of this message id from 1. Called when the broker would handle the
  // message: inside poll().
  using Script = std::function<Answer(const Message& message, std::size_t copy)>;

  explicit FakeTransport(ManualClock& clock);
  ~FakeTransport() override;

  void script(Script script);
  // Confirms are handed out by poll() in steps of at most this many messages; 0 (default): all at once.
  void answer_at_most(std::size_t messages_per_poll);
  // Opening fails with this reason until given again empty; open connections end.
  void refuse_connections(std::string reason);
  // check_exchange() answers 404 for it, and publishing to it closes the channel, until allowed again.
  void missing_exchange(std::string exchange, bool missing = true);
  // connection.blocked and unblocked; messages handed over meanwhile are handled once unblocked.
  void block(std::string reason);
  void unblock();
  // Ends every open connection.
  void drop_connections(std::uint16_t code = 0, const std::string& text = "connection lost");

  // What has reached a queue, in order; a duplicate appears twice.
  std::vector<Message> published() const;
  // How often publish() was called for any message, open() succeeded, and an exchange was asked for.
  std::size_t publishes() const;
  std::size_t opened() const;
  std::size_t checks() const;

  std::unique_ptr<PublishChannel> publish_channel() override;
  std::string description() const override;

  struct Broker;  // shared with the channels

 private:
  std::shared_ptr<Broker> broker_;
};

}  // namespace acemq::testing
