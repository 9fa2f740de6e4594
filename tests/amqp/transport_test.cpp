#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acemq/amqp.hpp"
#include "acemq/error.hpp"
#include "amqp/scripted_broker.hpp"

namespace acemq {
namespace {

using namespace std::chrono_literals;
using amqp::Listener;
using amqp::ScriptedBroker;
using Kind = TransportEvent::Kind;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Far more than any step needs here; no test waits for it.
constexpr auto kAmple = 1min;

Message message(std::string routing_key = "order.placed", std::string body = "{}") {
  return {.exchange = "shop-events",
          .routing_key = std::move(routing_key),
          .message_id = "0f8fad5b-d9cb-469f-a165-70867728950e",
          .content_type = "application/json",
          .headers = {{"x-acemq-version", 1}},
          .body = std::move(body)};
}

void publish(PublishChannel& channel, std::uint64_t first_ticket, std::size_t count, const Message& sent = message()) {
  std::vector<Publication> publications;
  for (std::uint64_t i = 0; i < count; ++i) publications.push_back({.ticket = first_ticket + i, .message = &sent});
  channel.publish(publications);
}

// Polls until `count` events are there, or none comes for a minute.
std::vector<TransportEvent> events(PublishChannel& channel, std::size_t count) {
  std::vector<TransportEvent> all;
  for (std::size_t before = 1; all.size() < count && all.size() != before;) {
    before = all.size();
    channel.poll(all, kAmple);
    if (all.size() == before) break;
  }
  return all;
}

std::vector<TransportEvent> events_now(PublishChannel& channel) {
  std::vector<TransportEvent> all;
  channel.poll(all, 0s);
  return all;
}

std::string why(const std::optional<Failure>& failure) { return failure ? failure->reason : "opened"; }

auto is(Kind kind) { return Field(&TransportEvent::kind, kind); }

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

// --- opening ---

// Nobody listens: the failure says where and why, and is an outage, whatever number of attempts.
TEST(Opening, SaysThatTheConnectionWasRefused) {
  Listener listener;
  AmqpTransport transport("amqp://" + listener.endpoint());
  listener.close();
  const auto channel = transport.publish_channel();
  for (int i = 0; i < 3; ++i) {
    const auto failure = channel->open(kAmple);
    EXPECT_EQ(why(failure), "cannot connect to " + listener.endpoint() + ": Connection refused");
    EXPECT_EQ(failure->failure_class, FailureClass::outage);
    EXPECT_FALSE(channel->is_open());
  }
}

// A host that swallows the first packet, as a dead one does: a listener whose queue is full. connect_timeout ends the attempt.
TEST(Opening, B35_UnreachableHostEndsAtTheConnectTimeout) {
  const Listener full(0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(full.port());
  std::vector<base::Descriptor> queue;
  for (int i = 0; i < 4; ++i) {
    queue.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(queue.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  AmqpTransport transport("amqp://" + full.endpoint(), {.connect_timeout = 50ms});
  EXPECT_EQ(why(transport.publish_channel()->open(kAmple)), "no answer from " + full.endpoint() + " within 50 ms");
}

// A peer that accepts and says nothing: handshake_timeout ends the attempt.
TEST(Opening, B35_SilentPeerEndsAtTheHandshakeTimeout) {
  const Listener silent;
  AmqpTransport transport("amqp://" + silent.endpoint(), {.handshake_timeout = 50ms});
  EXPECT_THAT(why(transport.publish_channel()->open(kAmple)), AllOf(HasSubstr(silent.endpoint()), HasSubstr("in time")));
}

// The caller's deadline ends the call, not the attempt: the next call joins it instead of dialling again.
TEST(Opening, CallersDeadlineCapsAllAndTheAttemptIsShared) {
  const Listener silent;
  AmqpTransport transport("amqp://" + silent.endpoint());
  const auto channel = transport.publish_channel();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(why(channel->open(10ms)), "not connected to " + silent.endpoint() + " in the time given");
  EXPECT_TRUE(silent.accept());
  EXPECT_FALSE(silent.accept());
}

// A host name with several addresses, of which one answers: "localhost" is ::1 and 127.0.0.1 to most systems.
TEST(Opening, FindsTheAddressThatAnswers) {
  ScriptedBroker broker;
  AmqpTransport transport("amqp://localhost" + broker.endpoint().substr(broker.endpoint().find(':')));
  EXPECT_EQ(why(transport.publish_channel()->open(kAmple)), "opened");
}

// Many threads open channels at once: one connection serves them all.
TEST(Opening, ConcurrentOpenersShareOneConnection) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  std::vector<std::unique_ptr<PublishChannel>> channels;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) channels.push_back(transport.publish_channel());
  for (const auto& channel : channels) threads.emplace_back([&channel] { EXPECT_EQ(why(channel->open(kAmple)), "opened"); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(broker.seen().connections, 1U);
  EXPECT_EQ(broker.seen().channels, 8U);
}

// More channels than the connection may have: the one too many fails, and gets its place when another is destroyed.
TEST(Opening, ChannelsAreBounded) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url(), {.channel_max = 1});
  auto first = transport.publish_channel();
  const auto second = transport.publish_channel();
  ASSERT_EQ(why(first->open(kAmple)), "opened");
  EXPECT_THAT(why(second->open(kAmple)), HasSubstr("every channel"));
  first.reset();
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.closed_channels == 1; }));
  // The broker's answer is on its way; until it is here the number is taken.
  while (second->open(kAmple)) std::this_thread::yield();
}

// A server of another protocol, one that hangs up, and one that resets: each is an outage with the address in it.
TEST(Opening, StrangeServersAreOutages) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  broker.behave([](auto& behaviour) { behaviour.greeting = "SSH-2.0-OpenSSH_9.2\r\n"; });
  EXPECT_THAT(why(channel->open(kAmple)), AllOf(HasSubstr(broker.endpoint()), HasSubstr("does not speak AMQP")));
  broker.behave([](auto& behaviour) { behaviour.resets = true; });
  EXPECT_THAT(why(channel->open(kAmple)), HasSubstr(broker.endpoint()));
  broker.behave([](auto& behaviour) { behaviour = {}; });
  EXPECT_EQ(why(channel->open(kAmple)), "opened");
}

// A refused login names the user, a refused vhost names it; the broker's words are kept apart and nothing holds the password.
TEST(Opening, RefusedLoginAndVhostAreToldApart) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  broker.behave([](auto& behaviour) { behaviour.login_refusal = 403; });
  auto failure = channel->open(kAmple);
  EXPECT_EQ(why(failure), "login refused by " + broker.endpoint() + " for user 'shop'");
  EXPECT_EQ(failure->code, 403);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->server_text, "ACCESS_REFUSED - login refused");

  broker.behave([](auto& behaviour) { behaviour = {.vhost_refusal = 530}; });
  failure = channel->open(kAmple);
  EXPECT_EQ(why(failure), "vhost '/' refused by " + broker.endpoint() + " for user 'shop'");
  EXPECT_EQ(failure->code, 530);
  EXPECT_EQ(failure->server_text, "NOT_ALLOWED - vhost not found");
}

// A connection that gives no channel: an outage with the broker's code, and the next try is on the same connection.
TEST(Opening, RefusedChannelIsAnOutage) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.channel_refusal = 506; });
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  const auto failure = channel->open(kAmple);
  EXPECT_EQ(why(failure), "channel refused by " + broker.endpoint());
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->code, 506);
  EXPECT_EQ(failure->server_text, "RESOURCE_ERROR - too many channels");
  broker.behave([](auto& behaviour) { behaviour.channel_refusal = 0; });
  EXPECT_EQ(why(channel->open(kAmple)), "opened");
  EXPECT_EQ(broker.seen().connections, 1U);
}

// User, password and vhost arrive byte for byte, however odd.
TEST(Opening, B36_OddCredentialsReachTheBroker) {
  ScriptedBroker broker;
  AmqpTransport transport("amqp://us%3Aer:p%40ss%23w%25rd%2F%3F%26%2B%20@" + broker.endpoint() + "/a%2Fb");
  ASSERT_EQ(why(transport.publish_channel()->open(kAmple)), "opened");
  EXPECT_EQ(broker.seen().login, std::string("\0us:er\0p@ss#w%rd/?&+ ", 21));
  EXPECT_EQ(broker.seen().vhost, "a/b");
}

// --- publishing ---

// Each message is confirmed once, whatever arrives in one piece.
TEST(Publishing, EveryTicketIsConfirmedOnce) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  EXPECT_TRUE(channel->is_open());
  for (std::uint64_t first = 1; first < 1000; first += 100) publish(*channel, first, 100);
  const auto seen = events(*channel, 1000);
  ASSERT_THAT(seen, SizeIs(1000));
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].ticket, i + 1);
  EXPECT_THAT(seen, Each(is(Kind::confirmed)));
}

// Large messages, more than the sockets hold at once: partial writes are continued, bytes stay in order.
TEST(Publishing, LargeMessagesGoOutInPieces) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 1, 8, message("order.placed", std::string(4 << 20, 'x')));
  EXPECT_THAT(events(*channel, 8), AllOf(SizeIs(8), Each(is(Kind::confirmed))));
}

// A message over a limit is refused by itself; its neighbours go out.
TEST(Publishing, MessageOverALimitIsRefusedAlone) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  const Message good = message();
  const Message bad = message(std::string(256, 'k'));
  channel->publish(std::vector<Publication>{{1, &good}, {2, &bad}, {3, &good}});
  auto seen = events(*channel, 3);
  ASSERT_THAT(seen, SizeIs(3));
  EXPECT_EQ(seen[0].kind, Kind::refused);
  EXPECT_EQ(seen[0].ticket, 2U);
  EXPECT_THAT(seen[0].text, HasSubstr("255"));
  EXPECT_EQ(broker.seen().messages, 2U);
}

// --- losing the connection ---

class LosingInBothWays : public ::testing::TestWithParam<bool> {};

// The connection ends, in order or by a reset, with messages unconfirmed: exactly one connection_lost, then silence; the channel
// opens again and starts afresh: nothing of the old one arrives.
TEST_P(LosingInBothWays, B15_ConnectionLostComesOnceAndReopeningStartsAfresh) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 1, 30);
  ASSERT_THAT(events(*channel, 30), SizeIs(30));
  broker.behave([](auto& behaviour) { behaviour.confirms = false; });
  publish(*channel, 31, 20);
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 50; }));
  broker.drop_connections(GetParam());

  const auto lost = events(*channel, 1);
  ASSERT_THAT(lost, ElementsAre(is(Kind::connection_lost)));
  EXPECT_EQ(lost[0].code, 0);
  EXPECT_FALSE(lost[0].text.empty());
  EXPECT_FALSE(channel->is_open());
  publish(*channel, 51, 1);  // in doubt, nothing more
  EXPECT_THAT(events_now(*channel), IsEmpty());

  broker.behave([](auto& behaviour) { behaviour.confirms = true; });
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 31, 20);
  const auto again = events(*channel, 20);
  ASSERT_THAT(again, AllOf(SizeIs(20), Each(is(Kind::confirmed))));
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i].ticket, 31 + i);
}

INSTANTIATE_TEST_SUITE_P(Ways, LosingInBothWays, ::testing::Bool(),
                         [](const auto& way) { return way.param ? "ByReset" : "InOrder"; });

// A broker that hangs up on a message while more of them are being written: its code and words arrive, whichever of writing and
// reading fails first.
TEST(Losing, BrokersReasonIsReadEvenWhenWritingFails) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.message_refusal = 501; });
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(why(channel->open(kAmple)), "opened");
    for (std::uint64_t ticket = 1; ticket <= 20; ++ticket)
      publish(*channel, ticket, 1, message("order.placed", std::string(5000, 'x')));
    const auto lost = events(*channel, 1);
    ASSERT_THAT(lost, ElementsAre(is(Kind::connection_lost)));
    ASSERT_EQ(lost[0].code, 501) << lost[0].text;
    EXPECT_EQ(lost[0].text, "FRAME_ERROR - cannot decode");
  }
}

// A channel stays open for its owner until the owner has seen that it is not: whatever was confirmed before comes first.
TEST(Losing, OwnerLearnsOfTheEndInOrder) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  const auto witness = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  ASSERT_EQ(why(witness->open(kAmple)), "opened");
  publish(*channel, 1, 3);
  publish(*witness, 1, 1);
  ASSERT_THAT(events(*witness, 1), ElementsAre(is(Kind::confirmed)));  // so the three are confirmed, too
  broker.drop_connections(false);
  ASSERT_THAT(events(*witness, 1), ElementsAre(is(Kind::connection_lost)));

  EXPECT_TRUE(channel->is_open());
  EXPECT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 4, 1);
  EXPECT_THAT(events_now(*channel),
              ElementsAre(is(Kind::confirmed), is(Kind::confirmed), is(Kind::confirmed), is(Kind::connection_lost)));
  EXPECT_FALSE(channel->is_open());
  EXPECT_EQ(broker.seen().connections, 1U);  // nothing reconnects by itself
}

// The peer's machine dies: no end of the connection arrives, and heartbeats notice while nobody publishes.
TEST(Losing, B04_HalfOpenConnectionIsNoticedByHeartbeats) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.heartbeat = 1; });
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  broker.behave([](auto& behaviour) { behaviour.reads = false; });
  const auto lost = events(*channel, 1);
  ASSERT_THAT(lost, ElementsAre(is(Kind::connection_lost)));
  EXPECT_THAT(lost[0].text, HasSubstr("heartbeat"));
}

// A peer that stays connected and answers nothing, heartbeats off: questions that time out end the connection for all its
// channels, and the next open() is on a new one.
TEST(Losing, B31_MutePeerIsLeftForANewConnection) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url(), {.login_timeout = 20ms, .heartbeat = 0s});
  const auto channel = transport.publish_channel();
  const auto next = transport.publish_channel();
  for (int i = 0; channel->open(kAmple); ++i) ASSERT_LT(i, 100);  // a slow machine may miss the short login
  const std::size_t connections = broker.seen().connections;
  broker.behave([](auto& behaviour) { behaviour.opens_channels = false; });
  EXPECT_EQ(why(next->open(20ms)), "no answer from " + broker.endpoint() + " in the time given");
  EXPECT_THAT(events(*channel, 1), ElementsAre(is(Kind::connection_lost)));

  broker.behave([](auto& behaviour) { behaviour.opens_channels = true; });
  for (int i = 0; next->open(kAmple); ++i) ASSERT_LT(i, 100);
  EXPECT_GT(broker.seen().connections, connections);
}

// Two hundred lost connections and two hundred refused logins: as many descriptors and threads as after the first.
TEST(Losing, B33_B54_ReconnectingLeaksNothing) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  const std::size_t descriptors = entries("/proc/self/fd");
  const std::size_t threads = entries("/proc/self/task");
  for (int i = 0; i < 200; ++i) {
    publish(*channel, 1, 1);
    broker.drop_connections(i % 2 == 0);
    while (channel->is_open()) events(*channel, 1);
    broker.behave([](auto& behaviour) { behaviour.login_refusal = 403; });
    ASSERT_NE(channel->open(kAmple), std::nullopt);
    broker.behave([](auto& behaviour) { behaviour.login_refusal = 0; });
    ASSERT_EQ(why(channel->open(kAmple)), "opened");
  }
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.open_connections == 1; }));
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(entries("/proc/self/task"), threads);
}

// --- interrupting ---

// An interruption that comes first ends the next poll() that waits; one that has nothing to wait for does not use it up.
TEST(Interrupting, EndsTheNextWait) {
  AmqpTransport transport("amqp://127.0.0.1");
  const auto channel = transport.publish_channel();
  channel->interrupt();
  EXPECT_THAT(events_now(*channel), IsEmpty());
  std::vector<TransportEvent> none;
  channel->poll(none, kAmple);
  EXPECT_THAT(none, IsEmpty());
}

// A thread that sleeps in poll(), on a channel that was never opened, is woken from another one.
TEST(Interrupting, WakesASleepingPoll) {
  AmqpTransport transport("amqp://127.0.0.1");
  const auto channel = transport.publish_channel();
  std::promise<void> started;
  auto sleeping = std::async(std::launch::async, [&] {
    started.set_value();
    std::vector<TransportEvent> none;
    channel->poll(none, kAmple);
    return none.size();
  });
  started.get_future().wait();
  channel->interrupt();
  EXPECT_EQ(sleeping.get(), 0U);
}

// --- cancelling ---

// A thread that waits in open() fails at once when its channel is cancelled, and so does every later call, for good.
TEST(Cancelling, EndsAWaitingOpenAndAllLaterOnes) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.opens_channels = false; });
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  auto opening = std::async(std::launch::async, [&] { return channel->open(kAmple); });
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.channels == 1; }));
  channel->cancel();
  EXPECT_EQ(why(opening.get()), "cancelled while waiting for " + broker.endpoint());
  EXPECT_EQ(why(channel->open(kAmple)), "cancelled");
  EXPECT_EQ(why(channel->check_exchange("shop-events", kAmple)), "cancelled");
}

// The same at a peer that never answers the connection.
TEST(Cancelling, EndsWaitingForAConnection) {
  const Listener silent;
  AmqpTransport transport("amqp://" + silent.endpoint());
  const auto channel = transport.publish_channel();
  auto opening = std::async(std::launch::async, [&] { return channel->open(kAmple); });
  pollfd connecting{silent.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&connecting, 1, -1), 1);
  channel->cancel();
  EXPECT_THAT(why(opening.get()), HasSubstr("cancelled"));
}

// What is on its way when a channel is cancelled can still be awaited.
TEST(Cancelling, LeavesOutstandingConfirms) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 1, 3);
  channel->cancel();
  EXPECT_THAT(events(*channel, 3), AllOf(SizeIs(3), Each(is(Kind::confirmed))));
  EXPECT_TRUE(channel->is_open());
}

// --- giving up a channel ---

// A channel that is closed by its owner forgets its tickets and events; opened again it starts afresh on the same connection.
TEST(GivingUp, B03_ForgetsWhatWasOpenAndStartsAfresh) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  broker.behave([](auto& behaviour) { behaviour.confirms = false; });
  publish(*channel, 1, 20);
  publish(*channel, 21, 1, message(std::string(256, 'k')));  // refused at once
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 20; }));
  channel->close();
  EXPECT_FALSE(channel->is_open());
  EXPECT_THAT(events_now(*channel), IsEmpty());

  broker.behave([](auto& behaviour) { behaviour.confirms = true; });
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  publish(*channel, 7, 1);
  const auto seen = events(*channel, 1);
  ASSERT_THAT(seen, ElementsAre(is(Kind::confirmed)));
  EXPECT_EQ(seen[0].ticket, 7U);
  EXPECT_EQ(broker.seen().connections, 1U);
}

// --- closing ---

// A transport that goes says goodbye to its broker.
TEST(Closing, SaysGoodbye) {
  ScriptedBroker broker;
  {
    AmqpTransport transport(broker.url());
    ASSERT_EQ(why(transport.publish_channel()->open(kAmple)), "opened");
  }
  EXPECT_EQ(broker.seen().goodbyes, 1U);
}

// A destroyed channel is closed at the broker, the connection stays.
TEST(Closing, DestroyedChannelIsClosedAtTheBroker) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto first = transport.publish_channel();
  auto second = transport.publish_channel();
  ASSERT_EQ(why(first->open(kAmple)), "opened");
  ASSERT_EQ(why(second->open(kAmple)), "opened");
  second.reset();
  EXPECT_TRUE(broker.wait_until([](const auto& seen) { return seen.closed_channels == 1; }));
  publish(*first, 1, 1);
  EXPECT_THAT(events(*first, 1), ElementsAre(is(Kind::confirmed)));
}

// The peer neither reads nor answers, and more is waiting than the sockets hold: destroying channel and transport returns.
TEST(Closing, B34_IsBoundedWhenThePeerIsSilent) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  broker.behave([](auto& behaviour) { behaviour.reads = false; });
  publish(*channel, 1, 32, message("order.placed", std::string(1 << 20, 'x')));
}

// So does destroying a transport in the middle of connecting, at a peer that never answers.
TEST(Closing, B34_IsBoundedWhileConnecting) {
  const Listener silent;
  AmqpTransport transport("amqp://" + silent.endpoint());
  EXPECT_NE(transport.publish_channel()->open(1ms), std::nullopt);
}

// --- exchanges ---

// A missing exchange is a refusal with the broker's code and words, asked beside the publishing channel, which goes on; existing
// ones are asked on one and the same channel.
TEST(Exchanges, AreCheckedBesideThePublishingChannel) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.missing_exchanges = {"nope"}; });
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(why(channel->check_exchange("shop-events", kAmple)), "opened");
  EXPECT_EQ(broker.seen().channels, 2U);

  for (int i = 0; i < 2; ++i) {
    const auto failure = channel->check_exchange("nope", kAmple);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->failure_class, FailureClass::refusal);
    EXPECT_EQ(failure->code, 404);
    EXPECT_EQ(failure->reason, "no such exchange 'nope'");
    EXPECT_EQ(failure->server_text, "NOT_FOUND - no exchange 'nope'");
  }
  EXPECT_EQ(why(channel->check_exchange("shop-events", kAmple)), "opened");
  publish(*channel, 1, 1);
  EXPECT_THAT(events(*channel, 1), ElementsAre(is(Kind::confirmed)));
  EXPECT_THAT(broker.seen().checked_exchanges,
              ElementsAre("shop-events", "shop-events", "shop-events", "nope", "nope", "shop-events"));
}

// Several owners ask at the same time about exchanges that are there and not there: each gets the answer to its own question.
TEST(Exchanges, ConcurrentQuestionsAreNotMixedUp) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.missing_exchanges = {"nope"}; });
  AmqpTransport transport(broker.url());
  std::vector<std::thread> owners;
  for (int i = 0; i < 4; ++i) {
    owners.emplace_back([&transport] {
      const auto channel = transport.publish_channel();
      ASSERT_EQ(why(channel->open(kAmple)), "opened");
      for (int question = 0; question < 25; ++question) {
        EXPECT_EQ(why(channel->check_exchange("shop-events", kAmple)), "opened");
        EXPECT_EQ(why(channel->check_exchange("nope", kAmple)), "no such exchange 'nope'");
      }
    });
  }
  for (auto& owner : owners) owner.join();
}

// A name that no broker takes is refused without harm to anybody.
TEST(Exchanges, OverlongNameIsRefused) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  const auto failure = channel->check_exchange(std::string(256, 'x'), kAmple);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::refusal);
  EXPECT_THAT(failure->server_text, HasSubstr("255"));
  publish(*channel, 1, 1);
  EXPECT_THAT(events(*channel, 1), ElementsAre(is(Kind::confirmed)));
}

// Asking needs an open channel: nothing connects behind the owner's back.
TEST(Exchanges, AreNotCheckedWithoutAConnection) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  EXPECT_EQ(channel->check_exchange("", kAmple), std::nullopt);
  EXPECT_EQ(why(channel->check_exchange("shop-events", kAmple)), "not connected to " + broker.endpoint());
  EXPECT_EQ(broker.seen().connections, 0U);
}

// Declaring throws what the broker said, and does what it is asked otherwise.
TEST(Exchanges, AreDeclaredOrTheBrokersWordsThrown) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.missing_exchanges = {"nope"}; });
  AmqpTransport transport(broker.url());
  transport.declare(ExchangeDeclaration{.name = "shop-events"});
  try {
    transport.declare(ExchangeDeclaration{.name = "nope", .passive = true});
    FAIL() << "accepted";
  } catch (const PublishError& error) {
    EXPECT_EQ(error.failure().code, 404);
    EXPECT_EQ(error.failure().server_text, "NOT_FOUND - no exchange 'nope'");
    EXPECT_THAT(error.what(), HasSubstr("exchange 'nope'"));
  }
}

// --- blocked ---

// connection.blocked reaches every channel, one opened meanwhile included; exchanges are not asked about until it ends.
TEST(Blocked, B32_IsReportedToEveryChannelAndEndsQuestions) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto early = transport.publish_channel();
  const auto late = transport.publish_channel();
  EXPECT_FALSE(early->is_blocked());
  ASSERT_EQ(why(early->open(kAmple)), "opened");
  broker.block("low on memory");
  const auto blocked = events(*early, 1);
  ASSERT_THAT(blocked, ElementsAre(is(Kind::blocked)));
  EXPECT_EQ(blocked[0].text, "low on memory");
  EXPECT_TRUE(early->is_blocked());
  const auto failure = early->check_exchange("shop-events", kAmple);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->server_text, "low on memory");

  ASSERT_EQ(why(late->open(kAmple)), "opened");
  EXPECT_THAT(events_now(*late), ElementsAre(is(Kind::blocked)));
  broker.block("");
  EXPECT_THAT(events(*early, 1), ElementsAre(is(Kind::unblocked)));
  EXPECT_THAT(events(*late, 1), ElementsAre(is(Kind::unblocked)));
  EXPECT_FALSE(late->is_blocked());
  EXPECT_EQ(why(early->check_exchange("shop-events", kAmple)), "opened");
}

// An alarm that comes and goes while the owner is busy takes the room of one event: its last state.
TEST(Blocked, FlappingAlarmIsOneEvent) {
  ScriptedBroker broker;
  AmqpTransport transport(broker.url());
  const auto channel = transport.publish_channel();
  ASSERT_EQ(why(channel->open(kAmple)), "opened");
  for (int i = 0; i < 100; ++i) {
    broker.block("low on memory");
    broker.block("");
  }
  const auto witness = transport.publish_channel();
  ASSERT_EQ(why(witness->open(kAmple)), "opened");
  EXPECT_THAT(events_now(*channel), ElementsAre(is(Kind::unblocked)));
}

// --- configuration ---

// Options out of their bounds are refused where they are given, by name.
TEST(Options, OutOfBoundsAreRefused) {
  const auto field_of = [](AmqpOptions options) -> std::string {
    try {
      AmqpTransport transport("amqp://mq", std::move(options));
      return "accepted";
    } catch (const InvalidConfiguration& error) {
      return error.field();
    }
  };
  EXPECT_EQ(field_of({}), "accepted");
  EXPECT_EQ(field_of({.connect_timeout = 0ms}), "connect_timeout");
  EXPECT_EQ(field_of({.handshake_timeout = 11min}), "handshake_timeout");
  EXPECT_EQ(field_of({.login_timeout = -1ms}), "login_timeout");
  EXPECT_EQ(field_of({.heartbeat = -1s}), "heartbeat");
  EXPECT_EQ(field_of({.heartbeat = 65536s}), "heartbeat");
  EXPECT_EQ(field_of({.frame_max = 4095}), "frame_max");
  EXPECT_EQ(field_of({.channel_max = 0}), "channel_max");
}

// The description is for logs.
TEST(Options, DescriptionHoldsNoSecret) {
  const AmqpTransport transport("amqp://shop:5ecret@mq.example/orders");
  EXPECT_EQ(transport.description(), "mq.example:5672/orders");
}

}  // namespace
}  // namespace acemq
