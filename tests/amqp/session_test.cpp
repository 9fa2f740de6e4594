#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "amqp/script.hpp"

namespace acemq::amqp {
namespace {

using namespace script;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ChannelId kOne = 1;

Script publish(std::vector<std::uint64_t> tickets, std::string answer, std::vector<std::string> events) {
  Step step{.answer = std::move(answer), .events = std::move(events)};
  for (std::size_t i = 0; i < tickets.size(); ++i) {
    step.leaves.push_back("1 BASIC_PUBLISH 'ex' 'key' mandatory");
    step.leaves.push_back("1 header flags=45184 id=m" + std::to_string(tickets[i]) + " type=application/json mode=2 size=2");
    step.leaves.push_back("1 body of 2");
  }
  step.act = [tickets = std::move(tickets)](Session& session) {
    for (const std::uint64_t ticket : tickets) {
      EXPECT_EQ(session.publish(kOne, message("m" + std::to_string(ticket)), ticket), std::nullopt);
    }
  };
  return {step};
}

Script confirms() {
  return publish({1, 2, 3}, ack(1, 1) + returned(1, "m2", std::string(9000, 'x')) + nack(1, 3) + ack(1, 2),
                 {"confirmed on 1 #1", "nacked on 1 #3", "returned on 1 #2 312: NO_ROUTE"}) +
         publish({4, 5, 6}, ack(1, 6, true), {"confirmed on 1 #4", "confirmed on 1 #5", "confirmed on 1 #6"});
}

Script topology() {
  return {{.act =
               [](Session& session) {
                 session.declare(2, ExchangeDeclaration{.name = "ex", .arguments = {{"alternate-exchange", "lost"}}}, 11);
                 session.declare(2, QueueDeclaration{.name = "q", .exclusive = true, .auto_delete = true}, 12);
                 session.bind(2, QueueBinding{.queue = "q", .exchange = "ex", .routing_key = "#"}, 13);
               },
           .leaves = {"2 EXCHANGE_DECLARE 'ex' topic durable", "2 QUEUE_DECLARE 'q' durable exclusive auto-delete",
                      "2 QUEUE_BIND 'q' 'ex' '#'"},
           .answer = oracle::method(2, AMQP_EXCHANGE_DECLARE_OK_METHOD) +
                     oracle::method(2, AMQP_QUEUE_DECLARE_OK_METHOD, amqp_queue_declare_ok_t{oracle::bytes("q"), 0, 0}) +
                     oracle::method(2, AMQP_QUEUE_BIND_OK_METHOD),
           .events = {"done on 2 #11", "done on 2 #12", "done on 2 #13"}},
          {.act = [](Session& session) { session.declare(2, ExchangeDeclaration{.name = "nope", .passive = true}, 14); },
           .leaves = {"2 EXCHANGE_DECLARE 'nope' topic passive durable"},
           .answer = channel_close(2, 404, "NOT_FOUND - no exchange 'nope'"),
           .events = {"channel_closed on 2 404: NOT_FOUND - no exchange 'nope'"}},
          {.leaves = {"2 CHANNEL_CLOSE_OK"}}};
}

Script flow() {
  return {{.answer = oracle::method(1, AMQP_CHANNEL_FLOW_METHOD, amqp_channel_flow_t{0})},
          {.leaves = {"1 CHANNEL_FLOW_OK 0"},
           .answer = oracle::method(0, AMQP_CONNECTION_BLOCKED_METHOD, amqp_connection_blocked_t{oracle::bytes("low on memory")}),
           .events = {"blocked: low on memory"}},
          {.answer = oracle::method(0, AMQP_CONNECTION_UNBLOCKED_METHOD), .events = {"unblocked"}}};
}

Script close_channel(ChannelId id) {
  const std::string number = std::to_string(id);
  return {{.act = [id](Session& session) { session.close_channel(id); },
           .leaves = {number + " CHANNEL_CLOSE 200"},
           .answer = oracle::method(id, AMQP_CHANNEL_CLOSE_OK_METHOD)}};
}

// Everything a publisher does with a connection.
Script whole_life() {
  return login() + open_channel(1) + confirms() + open_channel(2, false) + topology() + open_channel(2, false) + flow() +
         close_channel(2) + publish({7, 8}, "", {}) + goodbye();
}

// The conversation goes as the protocol says, as read by librabbitmq at the other end.
TEST(Session, HoldsAWholeConversation) { Conversation().play(whole_life()); }

// Where the network cuts the bytes makes no difference: every answer is fed byte by byte.
TEST(Session, GivesTheSameEventsByteByByte) { Conversation().play(whole_life(), 1); }

// Whatever fails at whichever step, the session ends once, says so last, and forgets everything.
TEST(Session, EndsOnceAfterAFaultAtEveryStep) { replay_with_faults(whole_life()); }

// A few damaged bytes anywhere in a conversation: the session ends at most once, and what it sends stays well-formed AMQP.
RC_GTEST_PROP(SessionProperty, DamagedAnswersAreHarmless, ()) {
  static const Script script = whole_life();
  const auto damaged = *rc::gen::inRange<std::size_t>(0, script.size());
  Conversation talk;
  long ends = 0;
  for (std::size_t i = 0; i < script.size(); ++i) {
    std::string answer = script[i].answer;
    if (i == damaged && !answer.empty()) {
      const int changes = *rc::gen::inRange(1, 4);
      for (int k = 0; k < changes; ++k) answer[*rc::gen::inRange<std::size_t>(0, answer.size())] = *rc::gen::arbitrary<char>();
    }
    if (script[i].act) script[i].act(talk.session);
    for (const std::string& line : talk.heard()) RC_ASSERT(line.find("librabbitmq") == std::string::npos);
    talk.answer(answer, *rc::gen::inRange<std::size_t>(1, 64));
    for (const std::string& event : talk.events()) ends += event.find("connection_closed") == 0 ? 1 : 0;
  }
  RC_ASSERT(ends <= 1);
  RC_ASSERT(talk.session.is_closed() == (ends == 1));
}

// --- login ---

// The broker learns what we can do, or it would never say that it blocks us.
TEST(SessionLogin, AnnouncesCapabilitiesAndTheNameOfTheClient) {
  Conversation talk;
  talk.answer(start());
  talk.heard();
  const Headers& properties = talk.listener.last_headers();
  EXPECT_EQ(*properties.find("product"), HeaderValue("acemq"));
  EXPECT_EQ(*properties.find("connection_name"), HeaderValue("shop@web-1"));
  const Headers& capabilities = *properties.find("capabilities")->as_table();
  for (const char* name : {"publisher_confirms", "basic.nack", "connection.blocked", "consumer_cancel_notify",
                           "authentication_failure_close", "exchange_exchange_bindings"}) {
    ASSERT_NE(capabilities.find(name), nullptr) << name;
    EXPECT_EQ(*capabilities.find(name), HeaderValue(true)) << name;
  }
}

// A refused login arrives with the broker's code and words.
TEST(SessionLogin, ReportsTheBrokersRefusal) {
  Conversation talk;
  talk.answer(start());
  talk.answer(oracle::method(0, AMQP_CONNECTION_CLOSE_METHOD,
                             amqp_connection_close_t{403, oracle::bytes("ACCESS_REFUSED - Login was refused"), 0, 0}));
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed 403: ACCESS_REFUSED - Login was refused"));
  EXPECT_THAT(talk.heard(), testing::Contains("0 CONNECTION_CLOSE_OK"));
}

// A broker that closes the socket instead of explaining: the text says at which step, and what that usually means.
TEST(SessionLogin, ExplainsASocketClosedAtEachStep) {
  const std::vector<std::string> hints = {"before it spoke AMQP", "user name or password", "vhost"};
  const Script script = login();
  for (std::size_t step = 0; step < hints.size(); ++step) {
    Conversation talk;
    talk.play(Script(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(step)));
    talk.session.connection_lost("end of stream");
    EXPECT_THAT(talk.events(), ElementsAre(testing::AllOf(HasSubstr(hints[step]), HasSubstr("end of stream"))));
  }
}

// Each step of the login has its deadline, and its own words when that passes.
TEST(SessionLogin, GivesUpInTime) {
  const std::vector<std::string> texts = {"did not begin to speak AMQP", "did not answer the login", "did not open the vhost"};
  const Script script = login();
  for (std::size_t step = 0; step < texts.size(); ++step) {
    SessionOptions impatient = options();
    impatient.handshake_timeout = std::chrono::milliseconds(300);
    impatient.login_timeout = std::chrono::milliseconds(700);
    Conversation talk(impatient);
    talk.play(Script(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(step)));
    EXPECT_EQ(talk.session.next_deadline() - talk.now, std::chrono::milliseconds(step == 0 ? 300 : 700));
    talk.now = talk.session.next_deadline() - std::chrono::nanoseconds(1);
    talk.session.tick(talk.now);
    EXPECT_THAT(talk.events(), IsEmpty());
    talk.now += std::chrono::nanoseconds(1);
    talk.session.tick(talk.now);
    EXPECT_THAT(talk.events(), ElementsAre(HasSubstr(texts[step])));
  }
}

// A server without PLAIN, or without publisher confirms, is of no use; the password is not sent.
TEST(SessionLogin, RefusesAServerThatCannotServe) {
  for (const std::string& useless : {start({{"publisher_confirms", true}}, "AMQPLAIN EXTERNAL PLAINER"), start({})}) {
    Conversation talk;
    talk.heard();
    talk.answer(useless);
    EXPECT_THAT(talk.events(), ElementsAre(HasSubstr("connection_closed: the broker")));
    EXPECT_THAT(talk.heard(), IsEmpty());
  }
}

// Another protocol on the port, even another version of AMQP, is named as such at its first byte.
TEST(SessionLogin, RecognisesAServerThatSpeaksSomethingElse) {
  for (const char* hello : {"A", "HTTP/1.1 400", "SSH-2.0", "\x15\x03"}) {
    Conversation talk;
    talk.answer(hello);
    EXPECT_THAT(talk.events(), ElementsAre(HasSubstr("does not speak AMQP 0-9-1")));
  }
}

// A vhost that no frame can carry ends the login with a reason instead of a broken frame.
TEST(SessionLogin, RefusesAVhostOver255Bytes) {
  SessionOptions long_vhost = options();
  long_vhost.vhost = std::string(256, 'v');
  Conversation talk(long_vhost);
  talk.answer(start());
  talk.answer(tune());
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed: vhost of 256 bytes, at most 255 are possible"));
}

// Of each limit the smaller one counts, 0 means none, and frames never get smaller than every peer must take.
TEST(SessionLogin, NegotiatesLimits) {
  struct Case {
    std::uint16_t our_channels;
    std::uint32_t our_frame;
    int our_heartbeat;
    std::string theirs, agreed;
  };
  for (const Case& each :
       {Case{64, 131072, 30, tune(2047, 131072, 60), "64 131072 30"}, Case{64, 131072, 30, tune(10, 8192, 5), "10 8192 5"},
        Case{64, 131072, 30, tune(0, 0, 0), "64 131072 30"}, Case{0, 131072, 0, tune(0, 131072, 60), "65535 131072 0"},
        Case{64, 100, 30, tune(64, 512, 60), "64 4096 30"}}) {
    SessionOptions ours = options();
    ours.channel_max = each.our_channels;
    ours.frame_max = each.our_frame;
    ours.heartbeat = std::chrono::seconds(each.our_heartbeat);
    Conversation talk(ours);
    talk.answer(start());
    talk.heard();
    talk.answer(each.theirs);
    EXPECT_THAT(talk.heard(), testing::Contains("0 CONNECTION_TUNE_OK " + each.agreed));
  }
}

// --- heartbeats ---

// Silence on our side for half the interval sends a heartbeat; anything else that is sent puts it off.
TEST(SessionHeartbeat, IsSentWhenNothingElseWas) {
  Conversation talk;
  talk.play(login() + open_channel(1));
  talk.now += std::chrono::seconds(10);
  talk.session.publish(1, message("m"), 1);
  EXPECT_EQ(talk.heard().size(), 3U);
  talk.answer(oracle::frame(AMQP_FRAME_HEARTBEAT, 0, ""));
  EXPECT_EQ(talk.session.next_deadline() - talk.now, std::chrono::seconds(15));
  talk.now += std::chrono::seconds(15);
  talk.session.tick(talk.now);
  EXPECT_THAT(talk.heard(), ElementsAre("heartbeat"));
  EXPECT_THAT(talk.events(), IsEmpty());
}

// While the network takes nothing, heartbeats do not pile up behind what waits already.
TEST(SessionHeartbeat, DoesNotPileUp) {
  Conversation talk;
  talk.play(login() + open_channel(1));
  talk.session.publish(1, message("m"), 1);
  const std::size_t waiting = talk.session.output().size();
  for (int i = 0; i < 10; ++i) {
    talk.now += std::chrono::seconds(15);
    talk.answer(oracle::frame(AMQP_FRAME_HEARTBEAT, 0, ""));
    talk.session.tick(talk.now);
    EXPECT_GT(talk.session.next_deadline(), talk.now);
  }
  EXPECT_EQ(talk.session.output().size(), waiting);
}

// A peer that says nothing for two intervals is dead.
TEST(SessionHeartbeat, DeclaresASilentPeerDead) {
  Conversation talk;
  talk.play(login());
  talk.now += std::chrono::seconds(60) - std::chrono::nanoseconds(1);
  talk.session.tick(talk.now);
  EXPECT_THAT(talk.events(), IsEmpty());
  talk.now += std::chrono::nanoseconds(1);
  talk.session.tick(talk.now);
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed: no heartbeat: the broker was silent for 60 s"));
}

// Without heartbeats an open session has nothing to wait for.
TEST(SessionHeartbeat, CanBeSwitchedOff) {
  SessionOptions quiet = options();
  quiet.heartbeat = std::chrono::seconds(0);
  Conversation talk(quiet);
  for (const std::string& answer : {start(), tune(), open_ok()}) talk.answer(answer);
  EXPECT_TRUE(talk.session.is_open());
  EXPECT_EQ(talk.session.next_deadline(), TimePoint::max());
}

// --- channels ---

// A publish to a missing exchange closes its channel only: later publishes on it are not sent, the connection stays, and the
// same number, opened anew, counts its tags from 1 and works.
TEST(SessionChannel, B05_ClosingOfAChannelIsNoticedAndItsNumberIsReusable) {
  Conversation talk;
  talk.play(login() + open_channel(1) + open_channel(2));
  talk.session.publish(1, message("m1"), 1);
  talk.answer(channel_close(1, 404, "NOT_FOUND - no exchange 'ex' in vhost '/orders'"));
  EXPECT_THAT(talk.events(), ElementsAre("channel_closed on 1 404: NOT_FOUND - no exchange 'ex' in vhost '/orders'"));
  talk.heard();
  EXPECT_EQ(talk.session.publish(1, message("m2"), 2), std::nullopt);
  EXPECT_THAT(talk.heard(), IsEmpty());
  EXPECT_EQ(talk.session.free_channel(), ChannelId{1});
  talk.play(open_channel(1) + publish({3}, ack(1, 1), {"confirmed on 1 #3"}));
  EXPECT_TRUE(talk.session.is_open());
}

// A message that the broker refuses by closing the channel (406) leaves connection and other channels alone.
TEST(SessionChannel, B28_APoisonousMessageClosesItsChannelOnly) {
  Conversation talk;
  talk.play(login() + open_channel(1) + open_channel(2, false));
  talk.session.publish(1, message("m1"), 1);
  talk.session.declare(2, QueueDeclaration{.name = "q"}, 5);
  talk.answer(channel_close(1, 406, "PRECONDITION_FAILED - invalid expiration") +
              oracle::method(2, AMQP_QUEUE_DECLARE_OK_METHOD, amqp_queue_declare_ok_t{oracle::bytes("q"), 0, 0}));
  EXPECT_THAT(talk.events(), ElementsAre("channel_closed on 1 406: PRECONDITION_FAILED - invalid expiration", "done on 2 #5"));
}

// Confirms belong to one opening of a channel: on a reopened one, and on a new connection, tags begin at 1 again and what was
// open before is never settled.
TEST(SessionChannel, B15_ConfirmTagsAreNotCarriedOver) {
  Conversation talk;
  talk.play(login() + open_channel(1) + publish({1, 2, 3}, ack(1, 1), {"confirmed on 1 #1"}) + close_channel(1) +
            open_channel(1) + publish({20, 30}, ack(1, 3) + ack(1, 2), {"confirmed on 1 #30"}));
  EXPECT_EQ(talk.session.ignored_confirms(), 1U);
}

// A number is not used again before the broker has answered our close; what still arrives for it is discarded.
TEST(SessionChannel, ANumberIsFreeOnlyAfterCloseOk) {
  Conversation talk;
  talk.play(login() + open_channel(1) + publish({1, 2}, "", {}));
  talk.session.close_channel(1);
  talk.session.close_channel(1);
  EXPECT_THAT(talk.heard(), ElementsAre("1 CHANNEL_CLOSE 200"));
  EXPECT_EQ(talk.session.free_channel(), ChannelId{2});
  talk.answer(ack(1, 1) + returned(1, "m2", "body"));
  EXPECT_THAT(talk.events(), IsEmpty());
  talk.answer(oracle::method(1, AMQP_CHANNEL_CLOSE_OK_METHOD));
  EXPECT_EQ(talk.session.free_channel(), ChannelId{1});
  EXPECT_THAT(talk.events(), IsEmpty());
}

// When both sides close a channel at once, each answers the other, and the number is free after both answers.
TEST(SessionChannel, BothSidesMayCloseAtOnce) {
  Conversation talk;
  talk.play(login() + open_channel(1));
  talk.session.close_channel(1);
  talk.answer(channel_close(1, 404, "NOT_FOUND"));
  EXPECT_THAT(talk.heard(), ElementsAre("1 CHANNEL_CLOSE 200", "1 CHANNEL_CLOSE_OK"));
  EXPECT_EQ(talk.session.free_channel(), ChannelId{2});
  talk.answer(oracle::method(1, AMQP_CHANNEL_CLOSE_OK_METHOD));
  EXPECT_EQ(talk.session.free_channel(), ChannelId{1});
  EXPECT_THAT(talk.events(), IsEmpty());
}

// There are as many channels as were negotiated.
TEST(SessionChannel, NumbersEndAtTheNegotiatedMaximum) {
  Conversation talk;
  for (const std::string& answer : {start(), tune(2), open_ok()}) talk.answer(answer);
  talk.session.open_channel(1, true);
  talk.session.open_channel(2, true);
  EXPECT_EQ(talk.session.free_channel(), std::nullopt);
}

// A request that no frame can carry is not sent; its channel ends with the reason.
TEST(SessionChannel, ARequestOverALimitEndsTheChannelWithAReason) {
  Conversation talk;
  talk.play(login() + open_channel(2, false));
  talk.session.declare(2, QueueDeclaration{.name = std::string(256, 'q')}, 1);
  EXPECT_THAT(talk.events(), ElementsAre("channel_closed on 2: queue of 256 bytes, at most 255 are possible"));
  EXPECT_THAT(talk.heard(), ElementsAre("2 CHANNEL_CLOSE 200"));
}

// --- end ---

// The broker's own close is answered and reported with its code.
TEST(SessionEnd, ReportsTheBrokersClose) {
  Conversation talk;
  talk.play(login());
  talk.answer(oracle::method(0, AMQP_CONNECTION_CLOSE_METHOD,
                             amqp_connection_close_t{320, oracle::bytes("CONNECTION_FORCED - shutdown"), 0, 0}));
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed 320: CONNECTION_FORCED - shutdown"));
  EXPECT_THAT(talk.heard(), ElementsAre("0 CONNECTION_CLOSE_OK"));
}

// Our goodbye does not wait for ever, and what still arrives meanwhile is discarded.
TEST(SessionEnd, GoodbyeHasADeadline) {
  Conversation talk;
  talk.play(login() + open_channel(1) + publish({1}, "", {}));
  talk.session.close(talk.now);
  EXPECT_FALSE(talk.session.is_open());
  talk.answer(ack(1, 1) + oracle::method(0, AMQP_CONNECTION_UNBLOCKED_METHOD));
  EXPECT_THAT(talk.events(), IsEmpty());
  talk.now += std::chrono::seconds(1);
  EXPECT_EQ(talk.session.next_deadline(), talk.now);
  talk.session.tick(talk.now);
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed: closed; the broker did not answer in time"));
}

// A session that is told to close before it is open ends at once.
TEST(SessionEnd, ClosingDuringTheLoginEndsAtOnce) {
  Conversation talk;
  talk.session.close(talk.now);
  EXPECT_THAT(talk.events(), ElementsAre("connection_closed: closed while logging in"));
}

// Whatever breaks the protocol is answered with connection.close and its code, and ends the session.
TEST(SessionEnd, ViolationsOfTheProtocolEndTheConnection) {
  const std::string return_method =
      oracle::method(1, AMQP_BASIC_RETURN_METHOD, amqp_basic_return_t{312, oracle::bytes("NO_ROUTE"), {}, {}});
  const std::string header_of_4 = oracle::content_header(1, {}, 4);
  struct Case {
    std::string what, said;
    int code;
  };
  for (const Case& each : {
           Case{"unknown frame type", oracle::frame(4, 0, ""), 501},
           Case{"a frame of 4 GiB", std::string("\x03\x00\x01\xFF\xFF\xFF\xFF", 7), 501},
           Case{"one byte too large", std::string("\x03\x00\x01\x00\x01\xFF\xF9", 7), 501},
           Case{"content on channel 0", oracle::body(0, "x"), 505},
           Case{"a channel that is not open", ack(9, 1), 504},
           Case{"an unexpected connection method", tune(), 505},
           Case{"a second login step", oracle::method(0, AMQP_CONNECTION_SECURE_METHOD, amqp_connection_secure_t{{0, nullptr}}),
                505},
           Case{"an answer that nobody waits for", oracle::method(1, AMQP_QUEUE_BIND_OK_METHOD), 505},
           Case{"a channel opened twice", oracle::method(1, AMQP_CHANNEL_OPEN_OK_METHOD, amqp_channel_open_ok_t{}), 505},
           Case{"an unknown method", oracle::frame(1, 1, "\xFF\xFF\xFF\xFF"), 505},
           Case{"half a method id", oracle::frame(1, 1, "\x01"), 505},
           Case{"half an ack", oracle::frame(1, 1, std::string("\0\x3C\0\x50\0\0", 6)), 502},
           Case{"half a channel.close", oracle::frame(1, 1, std::string("\0\x14\0\x28\x01", 5)), 502},
           Case{"half a connection.close", oracle::frame(1, 0, std::string("\0\x0A\0\x32\x01", 5)), 502},
           Case{"half a blocked", oracle::frame(1, 0, std::string("\0\x0A\0\x3C\x7F", 5)), 502},
           Case{"a header without a method", header_of_4, 505},
           Case{"a body without a method", oracle::body(1, "body"), 505},
           Case{"a body without a header", return_method + oracle::body(1, "body"), 505},
           Case{"two headers", return_method + header_of_4 + header_of_4, 505},
           Case{"a method inside a content", return_method + header_of_4 + ack(1, 1), 505},
           Case{"a body longer than announced", return_method + header_of_4 + oracle::body(1, "bodies"), 505},
           Case{"a header of another class",
                return_method + oracle::frame(2, 1, oracle::big_endian(50, 2) + std::string(12, '\0')), 502},
           Case{"a heartbeat on a channel", oracle::frame(8, 1, ""), 505},
       }) {
    SCOPED_TRACE(each.what);
    Conversation talk;
    talk.play(login() + open_channel(1) + publish({1}, "", {}));
    talk.answer(each.said);
    EXPECT_THAT(talk.events(), ElementsAre(HasSubstr("connection_closed: the broker broke the protocol: ")));
    EXPECT_THAT(talk.heard(), ElementsAre("0 CONNECTION_CLOSE " + std::to_string(each.code)));
  }
}

}  // namespace
}  // namespace acemq::amqp
