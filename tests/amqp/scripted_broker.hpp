// A broker for tests: speaks enough AMQP to log a publisher in and confirm what it sends, on a loopback socket and a thread of
// its own, and misbehaves on request.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "amqp/transport/wakeup.hpp"
#include "amqp/wire/field_table.hpp"
#include "amqp/wire/frame.hpp"
#include "amqp/wire/methods.hpp"
#include "base/descriptor.hpp"

namespace acemq::amqp {

// A listening TCP socket on a free port of 127.0.0.1. The kernel completes connections even when nobody accepts them.
class Listener {
 public:
  explicit Listener(int backlog = 64) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), raw, size) != 0 || ::listen(socket_.get(), backlog) != 0 ||
        ::getsockname(socket_.get(), raw, &size) != 0)
      throw std::runtime_error("no listening socket");
    port_ = ntohs(address.sin_port);
  }
  int descriptor() const { return socket_.get(); }
  std::uint16_t port() const { return port_; }
  std::string endpoint() const { return "127.0.0.1:" + std::to_string(port_); }
  // Nobody answers at this port from now on.
  void close() { socket_ = base::Descriptor(); }
  // May be called again on the port it had.
  base::Descriptor accept() const {
    return base::Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  }

 private:
  base::Descriptor socket_;
  std::uint16_t port_ = 0;
};

class ScriptedBroker {
 public:
  // What it does; may be changed at any time by behave().
  struct Behaviour {
    std::uint16_t heartbeat = 0;        // proposed in tune; it never sends one itself
    std::uint16_t login_refusal = 0;    // code of the connection.close that answers the login
    std::uint16_t vhost_refusal = 0;    // the same for connection.open
    std::uint16_t message_refusal = 0;  // code of the connection.close that answers a message; the socket is closed behind it
    bool confirms = true;               // false: messages are swallowed
    std::uint16_t channel_refusal = 0;  // code of the channel.close that answers channel.open
    bool opens_channels = true;         // false: channel.open is never answered
    bool reads = true;                  // false: connections stay open and nothing is read or sent
    bool resets = false;                // connections are reset as soon as they are made
    std::string greeting = {};          // sent instead of speaking AMQP
    std::set<std::string> missing_exchanges = {};
  };

  ScriptedBroker() : thread_([this] { run(); }) {}
  ~ScriptedBroker() {
    behave([this](Behaviour&) { stopping_ = true; });
    thread_.join();
  }

  std::string endpoint() const { return listener_.endpoint(); }
  std::string url() const { return "amqp://shop:5ecret@" + endpoint() + "/%2f"; }

  template <class Change>
  void behave(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(behaviour_);
    wakeup_.raise();
  }
  // Ends every connection, by RST or in order.
  void drop_connections(bool reset) {
    behave([&](Behaviour&) { (reset ? resetting_ : dropping_) = true; });
  }
  // Sends connection.blocked with this reason, or connection.unblocked when it is empty, to everybody.
  void block(const std::string& reason) {
    std::string frame;
    FrameBuilder builder(frame, FrameType::method, 0);
    builder.writer().u32(
        static_cast<std::uint32_t>(reason.empty() ? MethodId::connection_unblocked : MethodId::connection_blocked));
    if (!reason.empty()) builder.writer().short_string("reason", reason);
    builder.end(kFrameMaxFloor);
    behave([&](Behaviour&) { broadcast_ += frame; });
  }

  struct Seen {
    std::size_t connections = 0;
    std::size_t open_connections = 0;
    std::size_t channels = 0;
    std::size_t closed_channels = 0;
    std::size_t messages = 0;
    std::size_t goodbyes = 0;
    std::string login;  // of the last one: NUL user NUL password
    std::string vhost;
    std::vector<std::string> checked_exchanges;
  };
  Seen seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  // Whether `condition` of what was seen came true within ten seconds.
  template <class Condition>
  bool wait_until(Condition condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return condition(seen_); });
  }

 private:
  struct Peer {
    base::Descriptor socket;
    std::string input = {};
    std::string output = {};
    std::map<std::uint16_t, std::uint64_t> tags = {};  // of the last message, by channel
    bool greeted = false;
    bool over = false;
  };

  void run() {
    for (;;) {
      std::vector<pollfd> waiting{{wakeup_.descriptor(), POLLIN, 0}, {listener_.descriptor(), POLLIN, 0}};
      {
        const std::lock_guard lock(mutex_);
        for (const Peer& peer : peers_) {
          const int wanted = behaviour_.reads ? POLLIN | (peer.output.empty() ? 0 : POLLOUT) : 0;
          waiting.push_back({wanted == 0 ? -1 : peer.socket.get(), static_cast<short>(wanted), 0});
        }
      }
      ::poll(waiting.data(), waiting.size(), -1);
      wakeup_.lower();
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      serve();
      changed_.notify_all();
    }
  }

  void serve() {
    for (base::Descriptor socket = listener_.accept(); socket; socket = listener_.accept()) {
      ++seen_.connections;
      peers_.push_back({.socket = std::move(socket)});
    }
    const bool reset = std::exchange(resetting_, false) || behaviour_.resets;
    const bool drop = std::exchange(dropping_, false);
    for (Peer& peer : peers_) {
      if (reset) set_reset_on_close(peer.socket.get());
      if (reset || drop) peer.over = true;
      if (!broadcast_.empty()) peer.output += broadcast_;
      if (behaviour_.reads && !peer.over) exchange_bytes(peer);
    }
    broadcast_.clear();
    peers_.remove_if([](const Peer& peer) { return peer.over; });
    seen_.open_connections = peers_.size();
  }

  static void set_reset_on_close(int socket) {
    const linger hard{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  }

  void exchange_bytes(Peer& peer) {
    char buffer[65536];
    for (;;) {
      const ssize_t count = ::recv(peer.socket.get(), buffer, sizeof buffer, 0);
      if (count == 0) peer.over = true;
      if (count <= 0) break;
      peer.input.append(buffer, static_cast<std::size_t>(count));
    }
    take_input(peer);
    const ssize_t sent = ::send(peer.socket.get(), peer.output.data(), peer.output.size(), MSG_NOSIGNAL);
    if (sent > 0) peer.output.erase(0, static_cast<std::size_t>(sent));
  }

  void take_input(Peer& peer) {
    if (!peer.greeted) {
      if (peer.input.size() < kProtocolHeader.size()) return;
      peer.input.erase(0, kProtocolHeader.size());
      peer.greeted = true;
      if (!behaviour_.greeting.empty()) {
        peer.output += behaviour_.greeting;
      } else {
        reply(peer, 0, MethodId::connection_start, [](Writer& writer) {
          writer.u16(9);  // version 0-9
          write_table(writer, {{"capabilities", Headers{{"publisher_confirms", true}}}});
          writer.long_string("PLAIN");
          writer.long_string("en_US");
        });
      }
    }
    std::size_t taken = 0;
    for (;;) {
      const ParsedFrame parsed = parse_frame(std::string_view(peer.input).substr(taken), 131072);
      if (parsed.status != ParsedFrame::Status::complete) break;
      taken += parsed.size;
      if (parsed.frame.type == FrameType::method) take_method(peer, parsed.frame);
      if (parsed.frame.type == FrameType::header) take_message(peer, parsed.frame);
    }
    peer.input.erase(0, taken);
  }

  template <class Arguments>
  static void reply(Peer& peer, std::uint16_t channel, MethodId method, Arguments&& arguments) {
    FrameBuilder builder(peer.output, FrameType::method, channel);
    builder.writer().u32(static_cast<std::uint32_t>(method));
    arguments(builder.writer());
    builder.end(131072);
  }
  static void reply(Peer& peer, std::uint16_t channel, MethodId method) {
    reply(peer, channel, method, [](Writer&) {});
  }
  static void reply_close(Peer& peer, std::uint16_t channel, std::uint16_t code, std::string_view text) {
    reply(peer, channel, channel == 0 ? MethodId::connection_close : MethodId::channel_close,
          [&](Writer& writer) { encode(writer, Close{.code = code, .text = text}); });
  }

  void take_method(Peer& peer, const Frame& frame) {
    Reader reader(frame.payload);
    switch (static_cast<MethodId>(reader.u32())) {
      case MethodId::connection_start_ok:
        read_table(reader);
        reader.short_string();  // mechanism
        seen_.login = reader.long_string();
        if (behaviour_.login_refusal != 0)
          return reply_close(peer, 0, behaviour_.login_refusal, "ACCESS_REFUSED - login refused");
        return reply(peer, 0, MethodId::connection_tune, [&](Writer& writer) {
          encode(writer, ConnectionTune{.channel_max = 2047, .frame_max = 131072, .heartbeat = behaviour_.heartbeat});
        });
      case MethodId::connection_open:
        seen_.vhost = reader.short_string();
        if (behaviour_.vhost_refusal != 0) return reply_close(peer, 0, behaviour_.vhost_refusal, "NOT_ALLOWED - vhost not found");
        return reply(peer, 0, MethodId::connection_open_ok, [](Writer& writer) { writer.u8(0); });
      case MethodId::connection_close:
        ++seen_.goodbyes;
        return reply(peer, 0, MethodId::connection_close_ok);
      case MethodId::channel_open:
        ++seen_.channels;
        peer.tags[frame.channel] = 0;
        if (!behaviour_.opens_channels) return;
        if (behaviour_.channel_refusal != 0)
          return reply_close(peer, frame.channel, behaviour_.channel_refusal, "RESOURCE_ERROR - too many channels");
        return reply(peer, frame.channel, MethodId::channel_open_ok, [](Writer& writer) { writer.long_string(""); });
      case MethodId::channel_close:
        ++seen_.closed_channels;
        return reply(peer, frame.channel, MethodId::channel_close_ok);
      case MethodId::confirm_select:
        return reply(peer, frame.channel, MethodId::confirm_select_ok);
      case MethodId::exchange_declare:
        reader.u16();
        return take_declare(peer, frame.channel, std::string(reader.short_string()));
      default:
        return;
    }
  }

  void take_declare(Peer& peer, std::uint16_t channel, const std::string& exchange) {
    seen_.checked_exchanges.push_back(exchange);
    if (behaviour_.missing_exchanges.count(exchange) == 0) return reply(peer, channel, MethodId::exchange_declare_ok);
    reply_close(peer, channel, 404, "NOT_FOUND - no exchange '" + exchange + "'");
  }

  void take_message(Peer& peer, const Frame& frame) {
    ++seen_.messages;
    if (behaviour_.message_refusal != 0) {
      reply_close(peer, 0, behaviour_.message_refusal, "FRAME_ERROR - cannot decode");
      peer.over = true;
      return;
    }
    const std::uint64_t tag = ++peer.tags[frame.channel];
    if (!behaviour_.confirms) return;
    reply(peer, frame.channel, MethodId::basic_ack, [&](Writer& writer) {
      writer.u64(tag);
      writer.u8(0);
    });
  }

  Listener listener_;
  Wakeup wakeup_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Behaviour behaviour_;
  Seen seen_;
  std::list<Peer> peers_;
  std::string broadcast_;
  bool dropping_ = false;
  bool resetting_ = false;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses everything above
};

}  // namespace acemq::amqp
