// One AMQP 0-9-1 connection as a conversation, without input or output: bytes and the time go in, bytes and events come out. No
// socket, no thread, no clock, so that every script can be replayed with a fault at each step. The owner moves the bytes,
// serialises the calls and calls tick() when next_deadline() has passed.
//
// After the event connection_closed the session is over; whatever was open on it is lost. The owner makes a new one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "acemq/amqp.hpp"
#include "acemq/transport.hpp"

namespace acemq::amqp {

using ChannelId = std::uint16_t;
using TimePoint = std::chrono::nanoseconds;  // of a clock that never steps back

struct SessionOptions {
  std::string user, password, vhost;
  std::string client_name;
  std::chrono::seconds heartbeat{30};
  std::uint32_t frame_max = 131072;
  std::uint16_t channel_max = 64;
  std::chrono::milliseconds handshake_timeout{10000};  // until connection.start
  std::chrono::milliseconds login_timeout{10000};      // from there until connection.open-ok
  std::chrono::milliseconds close_timeout{1000};       // for connection.close-ok
};

struct SessionEvent {
  enum class Kind {
    opened,          // logged in; channels may be opened
    channel_opened,  // and confirms selected, if asked for
    confirmed,       // ticket
    returned,        // ticket: acknowledged, but was returned; code and text of basic.return
    nacked,          // ticket
    done,            // request: an exchange or queue was declared, or a binding made
    channel_closed,  // by the broker: code, text; open tickets and requests of the channel end here
    blocked,         // text: the broker's reason
    unblocked,
    connection_closed,  // code and text: the broker's, or ours when the broker broke the protocol or went silent
  };
  Kind kind = Kind::opened;
  ChannelId channel = 0;
  std::uint64_t ticket = 0;  // or the number of the request
  std::uint16_t code = 0;    // AMQP reply code; 0: none was sent (silence, protocol error, access refused by closing the socket)
  std::string text = {};
};

class Session {
 public:
  // Has the protocol header to send from the start.
  Session(SessionOptions options, TimePoint now);
  ~Session();

  // --- bytes ---
  void receive(std::string_view bytes, TimePoint now);
  // What waits to be sent. The view is valid until the next call of any other function.
  std::string_view output() const;
  // `bytes` of output() were written.
  void sent(std::size_t bytes, TimePoint now);
  // The peer closed the socket or the network failed: ends the session with connection_closed, in whose text `reason` stands.
  void connection_lost(std::string_view reason);

  // --- time ---
  // When tick() has work to do: a heartbeat to send, a silent peer, a late answer.
  TimePoint next_deadline() const;
  void tick(TimePoint now);

  // --- events --- in order, each once
  std::vector<SessionEvent> take_events();

  // --- state ---
  bool is_open() const;    // logged in, not closing
  bool is_closed() const;  // connection_closed was said
  bool is_blocked() const;
  std::uint32_t frame_max() const;  // as negotiated
  // Acknowledgements of unknown or already settled messages, and returns of unknown ones: a broker's fault that harms nobody.
  std::uint64_t ignored_confirms() const;

  // --- channels --- numbers are ours to choose from 1 to channel_max. All calls below do nothing on a channel, or a connection,
  // that is not open: the event that says why is waiting, or has been taken.
  std::optional<ChannelId> free_channel() const;
  void open_channel(ChannelId channel, bool confirms);
  void close_channel(ChannelId channel);  // silent: no event follows; its open tickets are forgotten

  // --- publishing --- on a channel with confirms
  // Encodes the message into the output. Returns a reason, and nothing is sent, when it breaks a limit of this connection: a
  // short string over 255 bytes, or headers that do not fit one frame of the negotiated size.
  std::optional<std::string> publish(ChannelId channel, const Message& message, std::uint64_t ticket);

  // --- topology --- each is answered by done, or by channel_closed
  void declare(ChannelId channel, const ExchangeDeclaration& exchange, std::uint64_t request);
  void declare(ChannelId channel, const QueueDeclaration& queue, std::uint64_t request);
  void bind(ChannelId channel, const QueueBinding& binding, std::uint64_t request);

  // Says goodbye: connection.close, then connection_closed once it is answered or close_timeout has passed.
  void close(TimePoint now);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace acemq::amqp
