// Conversations between a session and a broker, written as scripts, and their replay with a fault at every step.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "amqp/oracle.hpp"
#include "amqp/session/session.hpp"

namespace acemq::amqp::script {

inline constexpr std::string_view kPassword = "s3cret!";

inline SessionOptions options() {
  return {.user = "shop", .password = std::string(kPassword), .vhost = "/orders", .client_name = "shop@web-1"};
}

// The session's owner does something; these frames leave; the broker answers with these bytes; these events arrive.
struct Step {
  std::function<void(Session&)> act = {};
  std::vector<std::string> leaves = {};
  std::string answer = {};
  std::vector<std::string> events = {};
};
using Script = std::vector<Step>;

inline Script operator+(Script first, const Script& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// --- what brokers say ---

inline std::string start(const Headers& capabilities = {{"publisher_confirms", true}},
                         std::string_view mechanisms = "AMQPLAIN PLAIN") {
  oracle::Pool pool;
  const Headers properties{{"product", "RabbitMQ"}, {"capabilities", capabilities}};
  return oracle::method(
      0, AMQP_CONNECTION_START_METHOD,
      amqp_connection_start_t{0, 9, oracle::to_table(pool, properties), oracle::bytes(mechanisms), oracle::bytes("en_US")});
}

inline std::string tune(std::uint16_t channel_max = 2047, std::uint32_t frame_max = 131072, std::uint16_t heartbeat = 60) {
  return oracle::method(0, AMQP_CONNECTION_TUNE_METHOD, amqp_connection_tune_t{channel_max, frame_max, heartbeat});
}

inline std::string open_ok() { return oracle::method(0, AMQP_CONNECTION_OPEN_OK_METHOD, amqp_connection_open_ok_t{}); }

inline std::string ack(int channel, std::uint64_t tag, bool multiple = false) {
  return oracle::method(channel, AMQP_BASIC_ACK_METHOD, amqp_basic_ack_t{tag, multiple});
}

inline std::string nack(int channel, std::uint64_t tag, bool multiple = false) {
  return oracle::method(channel, AMQP_BASIC_NACK_METHOD, amqp_basic_nack_t{tag, multiple, 0});
}

inline std::string returned(int channel, std::string_view message_id, std::string_view body) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties.message_id = oracle::bytes(message_id);
  properties.delivery_mode = 2;
  std::string said =
      oracle::method(channel, AMQP_BASIC_RETURN_METHOD,
                     amqp_basic_return_t{312, oracle::bytes("NO_ROUTE"), oracle::bytes("ex"), oracle::bytes("key")}) +
      oracle::content_header(channel, properties, body.size());
  for (; !body.empty(); body.remove_prefix(std::min<std::size_t>(body.size(), 4000))) {
    said += oracle::body(channel, body.substr(0, 4000));
  }
  return said;
}

inline std::string channel_close(int channel, std::uint16_t code, std::string_view text) {
  return oracle::method(channel, AMQP_CHANNEL_CLOSE_METHOD, amqp_channel_close_t{code, oracle::bytes(text), 60, 40});
}

// --- pieces of scripts ---

inline Script login() {
  return {
      {.leaves = {"protocol header"}, .answer = start()},
      {.leaves = {"0 CONNECTION_START_OK PLAIN |shop|s3cret!"}, .answer = tune()},
      {.leaves = {"0 CONNECTION_TUNE_OK 64 131072 30", "0 CONNECTION_OPEN /orders"}, .answer = open_ok(), .events = {"opened"}}};
}

inline Script open_channel(ChannelId id, bool confirms = true) {
  const std::string number = std::to_string(id);
  const std::string opened = oracle::method(id, AMQP_CHANNEL_OPEN_OK_METHOD, amqp_channel_open_ok_t{});
  const Step open{.act = [id, confirms](Session& session) { session.open_channel(id, confirms); },
                  .leaves = {number + " CHANNEL_OPEN"},
                  .answer = opened};
  const Step select{.leaves = {number + " CONFIRM_SELECT"},
                    .answer = oracle::method(id, AMQP_CONFIRM_SELECT_OK_METHOD),
                    .events = {"channel_opened on " + number}};
  if (confirms) return {open, select};
  return {{open.act, open.leaves, open.answer, select.events}};
}

inline Message message(std::string id, std::string body = "{}") {
  return {.exchange = "ex",
          .routing_key = "key",
          .message_id = std::move(id),
          .content_type = "application/json",
          .headers = {},
          .body = std::move(body)};
}

inline Script goodbye() {
  return {{.act = [](Session& session) { session.close(std::chrono::seconds(1000)); },
           .leaves = {"0 CONNECTION_CLOSE 200"},
           .answer = oracle::method(0, AMQP_CONNECTION_CLOSE_OK_METHOD),
           .events = {"connection_closed: closed"}}};
}

inline std::string show(const SessionEvent& event) {
  static const char* const names[] = {"opened", "channel_opened", "confirmed", "returned",  "nacked",
                                      "done",   "channel_closed", "blocked",   "unblocked", "connection_closed"};
  std::string text = names[static_cast<int>(event.kind)];
  if (event.channel != 0) text += " on " + std::to_string(event.channel);
  if (event.ticket != 0) text += " #" + std::to_string(event.ticket);
  if (event.code != 0) text += " " + std::to_string(event.code);
  if (!event.text.empty()) text += ": " + event.text;
  return text;
}

inline std::vector<std::string> show(const std::vector<SessionEvent>& events) {
  std::vector<std::string> lines;
  for (const SessionEvent& event : events) lines.push_back(show(event));
  return lines;
}

// A session with a clock, and librabbitmq at the other end.
class Conversation {
 public:
  explicit Conversation(SessionOptions options = script::options()) : session(std::move(options), now) {}

  // What left since the last call.
  std::vector<std::string> heard() {
    const std::string out(session.output());
    session.sent(out.size(), now);
    return listener.hear(out);
  }

  std::vector<std::string> events() { return show(session.take_events()); }

  void answer(std::string_view bytes, std::size_t chunk = std::string_view::npos) {
    while (!bytes.empty()) {
      session.receive(bytes.substr(0, chunk), now);
      bytes.remove_prefix(std::min(chunk, bytes.size()));
    }
  }

  void play(const Script& script, std::size_t chunk = std::string_view::npos) {
    for (std::size_t i = 0; i < script.size(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      play(script[i], chunk);
    }
  }

  TimePoint now = std::chrono::seconds(1000);
  Session session;
  oracle::Listener listener;

 private:
  void play(const Step& step, std::size_t chunk) {
    if (step.act) step.act(session);
    EXPECT_EQ(heard(), step.leaves);
    answer(step.answer, chunk);
    EXPECT_EQ(events(), step.events);
  }
};

// The ways in which a broker or network may fail instead of giving the answer of a step.
struct Fault {
  std::string name;
  std::function<void(Conversation&, const std::string& answer)> strike;
};

inline void wait_in_silence(Conversation& talk) {
  for (int i = 0; i < 100 && !talk.session.is_closed(); ++i) {
    const TimePoint due = talk.session.next_deadline();
    ASSERT_NE(due, TimePoint::max()) << "an open session without a deadline";
    ASSERT_GT(due, talk.now - std::chrono::seconds(1)) << "a deadline that does not move on";
    talk.now = std::max(talk.now, due);
    talk.session.tick(talk.now);
    talk.heard();
  }
}

inline const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"the peer closes", [](Conversation& talk, const std::string&) { talk.session.connection_lost("reset by peer"); }},
      {"garbage", [](Conversation& talk, const std::string&) { talk.answer("HTTP/1.1 400 Bad Request\r\n\r\n"); }},
      {"half an answer, then the peer closes",
       [](Conversation& talk, const std::string& answer) {
         talk.answer(answer.substr(0, answer.size() / 2));
         talk.session.connection_lost("end of stream");
       }},
      {"half an answer, then silence",
       [](Conversation& talk, const std::string& answer) {
         talk.answer(answer.substr(0, answer.size() / 2));
         wait_in_silence(talk);
       }},
      {"a spoiled end octet",
       [](Conversation& talk, const std::string& answer) {
         std::string spoiled = answer.empty() ? oracle::frame(AMQP_FRAME_HEARTBEAT, 0, "") : answer;
         spoiled.back() = '?';
         talk.answer(spoiled);
         wait_in_silence(talk);
       }},
      {"silence", [](Conversation& talk, const std::string&) { wait_in_silence(talk); }},
      {"the broker stops", [](Conversation& talk, const std::string&) {
         talk.answer(oracle::method(0, AMQP_CONNECTION_CLOSE_METHOD,
                                    amqp_connection_close_t{320, oracle::bytes("CONNECTION_FORCED - shutdown"), 0, 0}));
       }}};
  return all;
}

// Plays the script up to each step and strikes there with each fault. Whatever happens, the session must end, say so once and
// last, and be inert afterwards.
inline void replay_with_faults(const Script& script) {
  for (std::size_t stop = 0; stop < script.size(); ++stop) {
    for (const Fault& fault : faults()) {
      SCOPED_TRACE(fault.name + " at step " + std::to_string(stop));
      Conversation talk;
      talk.play(Script(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(stop)));
      if (script[stop].act) script[stop].act(talk.session);
      fault.strike(talk, script[stop].answer);

      const std::vector<SessionEvent> events = talk.session.take_events();
      ASSERT_FALSE(events.empty());
      EXPECT_EQ(events.back().kind, SessionEvent::Kind::connection_closed);
      for (const SessionEvent& event : events) {
        EXPECT_EQ(event.kind == SessionEvent::Kind::connection_closed, &event == &events.back());
        EXPECT_EQ(event.text.find(kPassword), std::string::npos);
      }
      EXPECT_TRUE(talk.session.is_closed());
      EXPECT_FALSE(talk.session.is_open());
      EXPECT_FALSE(talk.session.is_blocked());
      EXPECT_EQ(talk.session.next_deadline(), TimePoint::max());

      talk.heard();
      talk.answer(script[stop].answer);
      talk.session.connection_lost("again");
      talk.session.tick(talk.now + std::chrono::hours(1));
      talk.session.open_channel(1, true);
      EXPECT_EQ(talk.session.publish(1, Message{}, 1), std::nullopt);
      talk.session.close(talk.now);
      EXPECT_EQ(talk.session.output(), "");
      EXPECT_TRUE(talk.session.take_events().empty());
    }
  }
}

}  // namespace acemq::amqp::script
