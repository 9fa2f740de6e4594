// Transport: what a connection to a broker can do for a relay or a publisher. AmqpTransport (amqp.hpp) speaks to RabbitMQ,
// FakeTransport (testing.hpp) to nobody.
//
// A transport moves messages and reports what happened to each; it decides nothing. Whoever owns a channel decides when to
// open it, what to send again and how long to wait between attempts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acemq/error.hpp"
#include "acemq/headers.hpp"

namespace acemq {

// As published: always persistent, with a message id, a content type and headers, and no other property (CONTRACT 7.1).
struct Message {
  std::string exchange = {};
  std::string routing_key = {};
  std::string message_id = {};
  std::string content_type = {};
  Headers headers = {};
  std::string body = {};
  // Unroutable messages come back instead of being confirmed and dropped (CONTRACT 0, fact 3).
  bool mandatory = true;
};

// What a channel reports. For every ticket that publish() took there is exactly one of confirmed, returned, nacked or refused,
// or else one channel_closed or connection_lost that leaves all open tickets in doubt.
struct TransportEvent {
  enum class Kind {
    confirmed,        // the broker has it
    returned,         // acknowledged but unroutable: code 312, text NO_ROUTE
    nacked,           // a queue refused it: full, or without a leader
    refused,          // over a limit of this connection; nothing was sent
    channel_closed,   // by the broker, with its code (404, 403, 406 …); open() gives a new one
    connection_lost,  // closed by the broker (its code) or gone (code 0)
    blocked,          // the broker asks for silence (memory or disk alarm)
    unblocked,
  };
  Kind kind = Kind::confirmed;
  std::uint64_t ticket = 0;  // of the first four kinds
  std::uint16_t code = 0;
  std::string text = {};  // the broker's words, or the reason of a refusal
};

struct Publication {
  std::uint64_t ticket = 0;  // the caller's name for it; unique among the open ones of this channel
  const Message* message = nullptr;
};

// One publishing channel with publisher confirms. Used by one thread at a time, but for interrupt() and cancel(), which any
// thread may call. Destroying it closes it at once.
class PublishChannel {
 public:
  virtual ~PublishChannel() = default;

  // Makes the channel ready: connects and logs in when the transport is not connected, opens a channel, selects confirms.
  // Returns nothing on success, and at once when it is open already; otherwise why not, as a Failure of class outage. Blocks
  // for at most `deadline`, less when cancelled. Confirms of an earlier channel never arrive on a new one.
  virtual std::optional<Failure> open(std::chrono::milliseconds deadline) = 0;
  // From a successful open() until poll() has handed out the event that ended it.
  virtual bool is_open() const = 0;
  // The broker's words while it asks for silence (memory or disk alarm); nothing otherwise.
  virtual std::optional<std::string> blocked_reason() const = 0;
  bool is_blocked() const { return blocked_reason().has_value(); }
  // Gives the channel up without waiting for the broker: unanswered tickets are forgotten and no event of theirs follows. open()
  // makes it ready again.
  virtual void close() = 0;

  // Whether messages can be published to `exchange`, asked beside the publishing channel, so that a missing exchange does not
  // close it. Returns nothing when it exists, a Failure of class refusal (404, 403) when not, and of class outage when there was
  // no answer within `deadline`. The default exchange always exists.
  virtual std::optional<Failure> check_exchange(std::string_view exchange, std::chrono::milliseconds deadline) = 0;

  // Hands over messages in order and returns without waiting for the network. Messages are encoded before it returns, so the
  // caller may drop them. How much may be unconfirmed at once is the caller's to bound. On a channel that is not open the
  // tickets are in doubt and a connection_lost or channel_closed event is already waiting or has been seen.
  virtual void publish(std::span<const Publication> publications) = 0;

  // Appends what has happened since the last call; waits for at most `timeout` when nothing has. Returns early when
  // interrupted. Also the way to sleep on a channel that is not open.
  virtual void poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) = 0;

  // Makes a poll() that waits, or else the next one, return at once. Any thread.
  virtual void interrupt() noexcept = 0;
  // For good: an open() or check_exchange() that waits, and every later one, fails at once. poll() goes on, so that outstanding
  // confirms can still be awaited. Any thread.
  virtual void cancel() noexcept = 0;
};

// Thread-safe. Must outlive its channels.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<PublishChannel> publish_channel() = 0;
  // Where messages go, for people: no user name, no password.
  virtual std::string description() const = 0;
};

}  // namespace acemq
