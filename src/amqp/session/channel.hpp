// One channel of a connection: opening and closing it, the messages and requests that are open on it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/session/confirms.hpp"
#include "amqp/session/session.hpp"
#include "amqp/wire/frame.hpp"
#include "amqp/wire/methods.hpp"

namespace acemq::amqp {

// The broker did what the protocol forbids: what connection.close will say.
struct Violation {
  std::uint16_t code = 0;
  std::string text;
};

class Channel {
 public:
  // Where output goes and what a channel must know of its connection.
  struct Connection {
    std::string& out;
    std::vector<SessionEvent>& events;
    std::uint64_t& ignored_confirms;
    std::uint32_t frame_max;
  };

  Channel(ChannelId id, bool confirms) : id_(id), wants_confirms_(confirms), confirms_(id) {}

  void open(Connection connection);
  void close(Connection connection);
  // Both sides have closed it: its number may be used again.
  bool is_gone() const noexcept { return state_ == State::gone; }

  std::optional<std::string> publish(Connection connection, const Message& message, std::uint64_t ticket);

  // Asks for something that the broker answers with `answer`.
  template <class Arguments>
  void request(Connection connection, MethodId method, const Arguments& arguments, MethodId answer, std::uint64_t request) {
    if (state_ != State::open) return;
    const auto reason = write_method(connection.out, id_, method, arguments, connection.frame_max);
    if (reason) return refuse(connection, *reason);
    requests_.push_back({answer, request});
  }

  std::optional<Violation> receive(Connection connection, const Frame& frame);

 private:
  enum class State {
    opening,    // channel.open was sent; next is selecting, or open on a channel without confirms
    selecting,  // confirm.select was sent; next is open
    open,       // takes messages and requests
    closing,    // our channel.close was sent; everything but the broker's close and close-ok is discarded
    gone,
  };

  struct Request {
    MethodId answer;
    std::uint64_t number;
  };

  // A returned message of which frames are still to come. Its body is counted, never stored.
  struct Content {
    std::uint16_t code = 0;
    std::string text;
    bool has_header = false;
    std::uint64_t body_left = 0;
  };

  std::optional<Violation> receive_method(Connection connection, const Frame& frame);
  std::optional<Violation> receive_header(Connection connection, const Frame& frame);
  std::optional<Violation> receive_body(const Frame& frame);
  std::optional<Violation> opened(Connection connection, MethodId method);
  std::optional<Violation> answered(Connection connection, MethodId method);
  void closed_by_broker(Connection connection, const Close& close);
  void refuse(Connection connection, const std::string& reason);

  ChannelId id_;
  bool wants_confirms_;
  State state_ = State::opening;
  Confirms confirms_;
  std::deque<Request> requests_;  // in the order in which they will be answered
  std::optional<Content> content_;
};

}  // namespace acemq::amqp
