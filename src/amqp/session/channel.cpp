#include "amqp/session/channel.hpp"

#include <utility>

#include "amqp/wire/content.hpp"

namespace acemq::amqp {
namespace {

constexpr std::uint16_t kSyntaxError = 502;
constexpr std::uint16_t kUnexpectedFrame = 505;
constexpr std::uint16_t kReplySuccess = 200;

Violation malformed(std::string_view what) { return {kSyntaxError, "malformed " + std::string(what)}; }

Violation unexpected(MethodId method) { return {kUnexpectedFrame, "unexpected method " + to_string(method)}; }

}  // namespace

void Channel::open(Connection connection) { write_method(connection.out, id_, MethodId::channel_open, ChannelOpen{}); }

void Channel::close(Connection connection) {
  if (state_ == State::closing) return;
  state_ = State::closing;
  write_method(connection.out, id_, MethodId::channel_close, Close{.code = kReplySuccess, .text = "done"});
}

std::optional<std::string> Channel::publish(Connection connection, const Message& message, std::uint64_t ticket) {
  if (state_ != State::open || !wants_confirms_) return std::nullopt;
  auto reason = write_message(connection.out, id_, message, connection.frame_max);
  if (!reason) confirms_.published(ticket, message.message_id);
  return reason;
}

std::optional<Violation> Channel::receive(Connection connection, const Frame& frame) {
  switch (frame.type) {
    case FrameType::method:
      return receive_method(connection, frame);
    case FrameType::header:
      return state_ == State::closing ? std::nullopt : receive_header(connection, frame);
    case FrameType::body:
      return state_ == State::closing ? std::nullopt : receive_body(frame);
    case FrameType::heartbeat:
      break;
  }
  return Violation{kUnexpectedFrame, "a heartbeat on a channel"};
}

std::optional<Violation> Channel::receive_method(Connection connection, const Frame& frame) {
  Reader reader(frame.payload);
  const auto method = static_cast<MethodId>(reader.u32());
  if (method == MethodId::channel_close) {
    const Close close = Close::decode(reader);
    if (!reader.ok()) return malformed("channel.close");
    closed_by_broker(connection, close);
    return std::nullopt;
  }
  if (state_ == State::closing) {
    if (method == MethodId::channel_close_ok) state_ = State::gone;
    return std::nullopt;
  }
  if (content_) return Violation{kUnexpectedFrame, "a method inside a content"};
  switch (method) {
    case MethodId::channel_open_ok:
    case MethodId::confirm_select_ok:
      return opened(connection, method);
    case MethodId::channel_flow: {
      const ChannelFlow flow = ChannelFlow::decode(reader);
      if (!reader.ok()) return malformed("channel.flow");
      write_method(connection.out, id_, MethodId::channel_flow_ok, flow);
      return std::nullopt;
    }
    case MethodId::basic_return: {
      const BasicReturn returned = BasicReturn::decode(reader);
      if (!reader.ok()) return malformed("basic.return");
      content_ = Content{.code = returned.code, .text = std::string(returned.text)};
      return std::nullopt;
    }
    case MethodId::basic_ack:
    case MethodId::basic_nack: {
      const Acknowledgement confirm = Acknowledgement::decode(reader);
      if (!reader.ok()) return malformed("confirm");
      const bool matched = method == MethodId::basic_ack ? confirms_.acked(confirm.tag, confirm.multiple, connection.events)
                                                         : confirms_.nacked(confirm.tag, confirm.multiple, connection.events);
      if (!matched) ++connection.ignored_confirms;
      return std::nullopt;
    }
    default:
      return answered(connection, method);
  }
}

std::optional<Violation> Channel::opened(Connection connection, MethodId method) {
  if (state_ == State::opening && method == MethodId::channel_open_ok && wants_confirms_) {
    state_ = State::selecting;
    write_method(connection.out, id_, MethodId::confirm_select, ConfirmSelect{});
    return std::nullopt;
  }
  if ((state_ == State::opening && method == MethodId::channel_open_ok) ||
      (state_ == State::selecting && method == MethodId::confirm_select_ok)) {
    state_ = State::open;
    connection.events.push_back({.kind = SessionEvent::Kind::channel_opened, .channel = id_});
    return std::nullopt;
  }
  return unexpected(method);
}

std::optional<Violation> Channel::answered(Connection connection, MethodId method) {
  if (requests_.empty() || requests_.front().answer != method) return unexpected(method);
  connection.events.push_back({.kind = SessionEvent::Kind::done, .channel = id_, .ticket = requests_.front().number});
  requests_.pop_front();
  return std::nullopt;
}

// When both sides close at once each still answers the other, and ours is answered too: the channel is gone only then.
void Channel::closed_by_broker(Connection connection, const Close& close) {
  write_method(connection.out, id_, MethodId::channel_close_ok, NoArguments{});
  if (state_ == State::closing) return;
  state_ = State::gone;
  connection.events.push_back(
      {.kind = SessionEvent::Kind::channel_closed, .channel = id_, .code = close.code, .text = std::string(close.text)});
}

// A request that cannot be encoded was never sent, so the broker will not close the channel over it: we do.
void Channel::refuse(Connection connection, const std::string& reason) {
  close(connection);
  connection.events.push_back({.kind = SessionEvent::Kind::channel_closed, .channel = id_, .text = reason});
}

std::optional<Violation> Channel::receive_header(Connection connection, const Frame& frame) {
  if (!content_ || content_->has_header) return Violation{kUnexpectedFrame, "an unexpected content header"};
  Reader reader(frame.payload);
  const ContentHeader header = ContentHeader::decode(reader);
  if (!reader.ok()) return malformed("content header");
  if (!confirms_.returned(header.message_id, content_->code, content_->text)) ++connection.ignored_confirms;
  content_->has_header = true;
  content_->body_left = header.body_size;
  if (content_->body_left == 0) content_.reset();
  return std::nullopt;
}

std::optional<Violation> Channel::receive_body(const Frame& frame) {
  if (!content_ || !content_->has_header) return Violation{kUnexpectedFrame, "an unexpected content body"};
  if (frame.payload.size() > content_->body_left) return Violation{kUnexpectedFrame, "a content body longer than announced"};
  content_->body_left -= frame.payload.size();
  if (content_->body_left == 0) content_.reset();
  return std::nullopt;
}

}  // namespace acemq::amqp
