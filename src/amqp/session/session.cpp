#include "amqp/session/session.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "amqp/session/channel.hpp"
#include "amqp/session/login.hpp"
#include "amqp/session/output_buffer.hpp"
#include "amqp/wire/methods.hpp"

namespace acemq::amqp {
namespace {

constexpr std::uint16_t kReplySuccess = 200;
constexpr std::uint16_t kFrameError = 501;
constexpr std::uint16_t kSyntaxError = 502;
constexpr std::uint16_t kChannelError = 504;
constexpr std::uint16_t kUnexpectedFrame = 505;
constexpr TimePoint kNever = TimePoint::max();

}  // namespace

class Session::Impl {
 public:
  Impl(SessionOptions options, TimePoint now)
      : options_(std::move(options)),
        frame_max_(std::max(options_.frame_max, kFrameMaxFloor)),
        deadline_(now + options_.handshake_timeout) {
    output_.end().append(kProtocolHeader);
  }

  void receive(std::string_view bytes, TimePoint now) {
    if (state_ == State::closed) return;
    last_received_ = now;
    if (input_.empty()) {
      bytes.remove_prefix(take_frames(bytes, now));
      input_.assign(bytes);
    } else {
      input_.append(bytes);
      input_.erase(0, take_frames(input_, now));
    }
  }

  std::string_view output() const { return output_.view(); }

  void sent(std::size_t bytes, TimePoint now) {
    if (bytes == 0) return;
    output_.consume(bytes);
    heartbeat_due_ = now + heartbeat_ / 2;
  }

  void connection_lost(std::string_view reason) {
    if (state_ != State::closed) end(0, lost_text() + std::string(reason));
  }

  TimePoint next_deadline() const {
    if (state_ == State::closed) return kNever;
    if (heartbeat_ == TimePoint::zero()) return deadline_;
    return std::min({deadline_, heartbeat_due_, silence_deadline()});
  }

  void tick(TimePoint now) {
    if (state_ == State::closed) return;
    if (now >= deadline_) return end(0, timeout_text());
    if (heartbeat_ == TimePoint::zero()) return;
    if (now >= silence_deadline()) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(2 * heartbeat_).count();
      return end(0, "no heartbeat: the broker was silent for " + std::to_string(seconds) + " s");
    }
    if (now >= heartbeat_due_) {
      // Bytes that wait already will do as a sign of life once the network takes them; more would only pile up.
      if (output_.view().empty()) FrameBuilder(output_.end(), FrameType::heartbeat, 0).end(kFrameMaxFloor);
      heartbeat_due_ = now + heartbeat_ / 2;
    }
  }

  std::vector<SessionEvent> take_events() { return std::exchange(events_, {}); }

  bool is_open() const { return state_ == State::open; }
  bool is_closed() const { return state_ == State::closed; }
  bool is_blocked() const { return is_blocked_; }
  std::uint32_t frame_max() const { return frame_max_; }
  std::uint64_t ignored_confirms() const { return ignored_confirms_; }

  std::optional<ChannelId> free_channel() const {
    for (std::uint32_t id = 1; id <= channel_max_; ++id) {
      if (channels_.count(static_cast<ChannelId>(id)) == 0) return static_cast<ChannelId>(id);
    }
    return std::nullopt;
  }

  void open_channel(ChannelId id, bool confirms) {
    if (!is_open()) return;
    const auto [position, is_new] = channels_.try_emplace(id, id, confirms);
    if (is_new) position->second.open(connection());
  }

  void close_channel(ChannelId id) {
    if (Channel* channel = find(id)) channel->close(connection());
  }

  std::optional<std::string> publish(ChannelId id, const Message& message, std::uint64_t ticket) {
    Channel* channel = find(id);
    return channel == nullptr ? std::nullopt : channel->publish(connection(), message, ticket);
  }

  template <class Arguments>
  void request(ChannelId id, MethodId method, const Arguments& arguments, MethodId answer, std::uint64_t number) {
    if (Channel* channel = find(id)) channel->request(connection(), method, arguments, answer, number);
  }

  void close(TimePoint now) {
    if (state_ == State::closing || state_ == State::closed) return;
    if (state_ != State::open) return end(0, "closed while logging in");
    state_ = State::closing;
    deadline_ = now + options_.close_timeout;
    channels_.clear();
    send(MethodId::connection_close, Close{.code = kReplySuccess, .text = "goodbye"});
  }

 private:
  enum class State {
    awaiting_start,    // the protocol header was sent; next is awaiting_tune
    awaiting_tune,     // user and password were sent; next is awaiting_open_ok
    awaiting_open_ok,  // the vhost was sent; next is open
    open,              // channels live
    closing,           // our connection.close was sent; everything but the broker's close and close-ok is discarded
    closed,            // connection_closed was said; reached from every state
  };

  Channel::Connection connection() { return {output_.end(), events_, ignored_confirms_, frame_max_}; }

  Channel* find(ChannelId id) {
    if (!is_open()) return nullptr;
    const auto position = channels_.find(id);
    return position == channels_.end() ? nullptr : &position->second;
  }

  TimePoint silence_deadline() const { return last_received_ + 2 * heartbeat_; }

  template <class Arguments>
  std::optional<std::string> send(MethodId method, const Arguments& arguments) {
    return write_method(output_.end(), 0, method, arguments, frame_max_);
  }

  // Returns how many bytes were taken.
  std::size_t take_frames(std::string_view bytes, TimePoint now) {
    std::size_t taken = 0;
    while (state_ != State::closed) {
      const ParsedFrame parsed = parse_frame(bytes.substr(taken), frame_max_);
      if (parsed.status == ParsedFrame::Status::incomplete) break;
      if (parsed.status == ParsedFrame::Status::malformed) {
        violation({kFrameError, std::string(parsed.reason)});
        break;
      }
      taken += parsed.size;
      take_frame(parsed.frame, now);
    }
    return taken;
  }

  void take_frame(const Frame& frame, TimePoint now) {
    if (frame.channel == 0) {
      if (frame.type == FrameType::method) return take_method(frame.payload, now);
      if (frame.type != FrameType::heartbeat) violation({kUnexpectedFrame, "content on channel 0"});
      return;
    }
    if (state_ == State::closing) return;
    const auto position = channels_.find(frame.channel);
    if (position == channels_.end()) return violation({kChannelError, "a frame for a channel that is not open"});
    Channel& channel = position->second;
    if (const auto broken = channel.receive(connection(), frame)) return violation(*broken);
    if (channel.is_gone()) channels_.erase(position);
  }

  void take_method(std::string_view payload, TimePoint now) {
    Reader reader(payload);
    const auto method = static_cast<MethodId>(reader.u32());
    switch (method) {
      case MethodId::connection_close:
        return take_close(reader);
      case MethodId::connection_close_ok:
        if (state_ == State::closing) return end(0, "closed");
        break;
      case MethodId::connection_start:
        if (state_ == State::awaiting_start) return take_start(reader, now);
        break;
      case MethodId::connection_tune:
        if (state_ == State::awaiting_tune) return take_tune(reader, now);
        break;
      case MethodId::connection_open_ok:
        if (state_ == State::awaiting_open_ok) return take_open_ok();
        break;
      case MethodId::connection_blocked:
      case MethodId::connection_unblocked:
        if (state_ == State::open) return take_blocked(method, reader);
        break;
      default:
        break;
    }
    if (state_ != State::closing) violation({kUnexpectedFrame, "unexpected method " + to_string(method)});
  }

  void take_start(Reader& reader, TimePoint now) {
    const ConnectionStart start = ConnectionStart::decode(reader);
    if (!reader.ok()) return violation({kSyntaxError, "malformed connection.start"});
    if (const auto objection = objection_to(start)) return end(0, *objection);
    const std::string response = '\0' + options_.user + '\0' + options_.password;
    const auto reason =
        send(MethodId::connection_start_ok,
             ConnectionStartOk{
                 .client_properties = client_properties(options_.client_name), .mechanism = "PLAIN", .response = response});
    if (reason) return end(0, "the login cannot be sent: " + *reason);
    state_ = State::awaiting_tune;
    deadline_ = now + options_.login_timeout;
  }

  void take_tune(Reader& reader, TimePoint now) {
    const ConnectionTune tune = ConnectionTune::decode(reader);
    if (!reader.ok()) return violation({kSyntaxError, "malformed connection.tune"});
    const ConnectionTune agreed = negotiate(options_, tune);
    channel_max_ = agreed.channel_max;
    frame_max_ = agreed.frame_max;
    heartbeat_ = std::chrono::seconds(agreed.heartbeat);
    heartbeat_due_ = now + heartbeat_ / 2;
    send(MethodId::connection_tune_ok, agreed);
    if (const auto reason = send(MethodId::connection_open, ConnectionOpen{.vhost = options_.vhost})) return end(0, *reason);
    state_ = State::awaiting_open_ok;
  }

  void take_open_ok() {
    state_ = State::open;
    deadline_ = kNever;
    events_.push_back({.kind = SessionEvent::Kind::opened});
  }

  void take_blocked(MethodId method, Reader& reader) {
    is_blocked_ = method == MethodId::connection_blocked;
    if (!is_blocked_) {
      events_.push_back({.kind = SessionEvent::Kind::unblocked});
      return;
    }
    const ConnectionBlocked blocked = ConnectionBlocked::decode(reader);
    if (!reader.ok()) return violation({kSyntaxError, "malformed connection.blocked"});
    events_.push_back({.kind = SessionEvent::Kind::blocked, .text = std::string(blocked.reason)});
  }

  void take_close(Reader& reader) {
    const Close close = Close::decode(reader);
    if (!reader.ok()) return violation({kSyntaxError, "malformed connection.close"});
    send(MethodId::connection_close_ok, NoArguments{});
    end(close.code, std::string(close.text));
  }

  // Tells the broker, if it listens still, and ends the session without waiting for an answer.
  void violation(const Violation& broken) {
    if (state_ == State::awaiting_start) return end(0, "the server does not speak AMQP 0-9-1: " + broken.text);
    send(MethodId::connection_close, Close{.code = broken.code, .text = broken.text});
    end(0, "the broker broke the protocol: " + broken.text);
  }

  void end(std::uint16_t code, std::string text) {
    state_ = State::closed;
    channels_.clear();
    is_blocked_ = false;
    events_.push_back({.kind = SessionEvent::Kind::connection_closed, .code = code, .text = std::move(text)});
  }

  std::string timeout_text() const {
    switch (state_) {
      case State::awaiting_start:
        return "the server did not begin to speak AMQP in time";
      case State::awaiting_tune:
        return "the broker did not answer the login in time";
      case State::awaiting_open_ok:
        return "the broker did not open the vhost in time";
      default:
        return "closed; the broker did not answer in time";
    }
  }

  // A broker that refuses a login may say so by closing the socket.
  std::string lost_text() const {
    switch (state_) {
      case State::awaiting_start:
        return "the server closed the connection before it spoke AMQP (is this its AMQP port, with the right TLS setting?): ";
      case State::awaiting_tune:
        return "connection lost during the login (perhaps user name or password are wrong): ";
      case State::awaiting_open_ok:
        return "connection lost while opening the vhost (perhaps there is none of this name, or no access to it): ";
      default:
        return "connection lost: ";
    }
  }

  SessionOptions options_;
  State state_ = State::awaiting_start;
  std::uint32_t frame_max_;
  std::uint16_t channel_max_ = 0;
  bool is_blocked_ = false;

  TimePoint deadline_;                           // of the step in hand: start, login or close
  TimePoint heartbeat_ = TimePoint::zero();      // zero: none
  TimePoint heartbeat_due_ = TimePoint::zero();  // when we must have sent something
  TimePoint last_received_ = TimePoint::zero();

  std::string input_;  // the beginning of a frame, less than frame_max bytes
  OutputBuffer output_;
  std::map<ChannelId, Channel> channels_;
  std::vector<SessionEvent> events_;
  std::uint64_t ignored_confirms_ = 0;
};

Session::Session(SessionOptions options, TimePoint now) : impl_(std::make_unique<Impl>(std::move(options), now)) {}
Session::~Session() = default;

void Session::receive(std::string_view bytes, TimePoint now) { impl_->receive(bytes, now); }
std::string_view Session::output() const { return impl_->output(); }
void Session::sent(std::size_t bytes, TimePoint now) { impl_->sent(bytes, now); }
void Session::connection_lost(std::string_view reason) { impl_->connection_lost(reason); }

TimePoint Session::next_deadline() const { return impl_->next_deadline(); }
void Session::tick(TimePoint now) { impl_->tick(now); }

std::vector<SessionEvent> Session::take_events() { return impl_->take_events(); }

bool Session::is_open() const { return impl_->is_open(); }
bool Session::is_closed() const { return impl_->is_closed(); }
bool Session::is_blocked() const { return impl_->is_blocked(); }
std::uint32_t Session::frame_max() const { return impl_->frame_max(); }
std::uint64_t Session::ignored_confirms() const { return impl_->ignored_confirms(); }

std::optional<ChannelId> Session::free_channel() const { return impl_->free_channel(); }
void Session::open_channel(ChannelId channel, bool confirms) { impl_->open_channel(channel, confirms); }
void Session::close_channel(ChannelId channel) { impl_->close_channel(channel); }

std::optional<std::string> Session::publish(ChannelId channel, const Message& message, std::uint64_t ticket) {
  return impl_->publish(channel, message, ticket);
}

void Session::declare(ChannelId channel, const ExchangeDeclaration& exchange, std::uint64_t request) {
  impl_->request(channel, MethodId::exchange_declare, exchange, MethodId::exchange_declare_ok, request);
}

void Session::declare(ChannelId channel, const QueueDeclaration& queue, std::uint64_t request) {
  impl_->request(channel, MethodId::queue_declare, queue, MethodId::queue_declare_ok, request);
}

void Session::bind(ChannelId channel, const QueueBinding& binding, std::uint64_t request) {
  impl_->request(channel, MethodId::queue_bind, binding, MethodId::queue_bind_ok, request);
}

void Session::close(TimePoint now) { impl_->close(now); }

}  // namespace acemq::amqp
