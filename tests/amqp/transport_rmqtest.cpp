// AmqpTransport against a real RabbitMQ, at ACEMQ_TEST_AMQP_URL.
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "acemq/amqp.hpp"
#include "acemq/envelope.hpp"
#include "acemq/error.hpp"
#include "amqp/rabbitmq_peer.hpp"
#include "amqp/transport/url.hpp"

namespace acemq {
namespace {

using namespace std::chrono_literals;
using amqp::RabbitMqPeer;
using Kind = TransportEvent::Kind;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr auto kAmple = 1min;

std::string why(const std::optional<Failure>& failure) {
  return failure ? failure->reason + " (" + failure->server_text + ")" : "opened";
}

auto is(Kind kind) { return Field(&TransportEvent::kind, kind); }

// A transport with an open channel, and names of queues and exchanges that no other test uses and that go when the test ends.
class RabbitMq : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(why(channel_->open(kAmple)), "opened"); }
  void TearDown() override {
    RabbitMqPeer peer;
    for (const std::string& queue : queues_) peer.remove_queue(queue);
    for (const std::string& exchange : exchanges_) peer.remove_exchange(exchange);
  }

  std::string name() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    return std::string("acemq-test-") + test->name() + "-" + std::to_string(::getpid()) + "-" + std::to_string(++names_);
  }
  std::string queue(Headers arguments = {}) {
    queues_.push_back(name());
    transport_.declare(QueueDeclaration{.name = queues_.back(), .arguments = std::move(arguments)});
    return queues_.back();
  }
  std::string exchange(const std::string& type) {
    exchanges_.push_back(name());
    transport_.declare(ExchangeDeclaration{.name = exchanges_.back(), .type = type});
    return exchanges_.back();
  }

  Message& message(std::string exchange, std::string routing_key) {
    const std::string id = "m-" + std::to_string(messages_.size() + 1);
    return messages_.emplace_back(Message{.exchange = std::move(exchange),
                                          .routing_key = std::move(routing_key),
                                          .message_id = id,
                                          .content_type = "application/json",
                                          .headers = {{"x-acemq-id", id}},
                                          .body = "{}"});
  }
  // Publishes the messages made so far, with tickets from 1, and returns `count` events.
  std::vector<TransportEvent> publish(std::size_t count) {
    std::vector<Publication> publications;
    for (const Message& message : messages_) publications.push_back({.ticket = publications.size() + 1, .message = &message});
    channel_->publish(publications);
    return events(count);
  }
  // Polls until `count` events are there, or none comes for a minute.
  std::vector<TransportEvent> events(std::size_t count) {
    std::vector<TransportEvent> all;
    for (std::size_t before = 1; all.size() < count && all.size() != before;) {
      before = all.size();
      channel_->poll(all, kAmple);
      if (all.size() == before) break;
    }
    return all;
  }

  AmqpTransport transport_{amqp::test_broker_url(), {.client_name = "acemq tests"}};
  std::unique_ptr<PublishChannel> channel_ = transport_.publish_channel();
  std::deque<Message> messages_;

 private:
  std::vector<std::string> queues_, exchanges_;
  int names_ = 0;
};

// Ten thousand messages, a thousand unconfirmed at once: each is confirmed exactly once and all are in the queue.
TEST_F(RabbitMq, ConfirmsTenThousandWithAWindowOfOneThousand) {
  constexpr std::uint64_t kMessages = 10'000, kWindow = 1'000;
  const std::string to = queue();
  const Message& sent = message("", to);
  std::vector<int> confirms(kMessages + 1, 0);
  std::uint64_t next = 1, confirmed = 0;
  while (confirmed < kMessages) {
    std::vector<Publication> publications;
    for (; next <= kMessages && next - 1 - confirmed < kWindow; ++next)
      publications.push_back({.ticket = next, .message = &sent});
    channel_->publish(publications);
    const auto seen = events(1);
    ASSERT_THAT(seen, Not(IsEmpty()));
    ASSERT_THAT(seen, Each(is(Kind::confirmed)));
    for (const auto& event : seen) ++confirms.at(event.ticket);
    confirmed += seen.size();
  }
  confirms.erase(confirms.begin());
  EXPECT_THAT(confirms, Each(1));
  EXPECT_EQ(RabbitMqPeer().depth(to), kMessages);
}

// A message without a queue comes back, one that nobody insists on does not, and neighbours are confirmed.
TEST_F(RabbitMq, ReturnsWhatIsUnroutable) {
  const std::string to = queue();
  message("", to);
  message("", to + "-nowhere");
  message("", to + "-nowhere").mandatory = false;
  message("", to);
  std::vector<Kind> kinds(5, Kind::unblocked);
  for (const auto& event : publish(4)) {
    kinds.at(event.ticket) = event.kind;
    if (event.kind != Kind::returned) continue;
    EXPECT_EQ(event.code, 312);
    EXPECT_EQ(event.text, "NO_ROUTE");
  }
  EXPECT_THAT(kinds, ElementsAre(Kind::unblocked, Kind::confirmed, Kind::returned, Kind::confirmed, Kind::confirmed));
  EXPECT_EQ(RabbitMqPeer().depth(to), 2U);
}

// Asking for a missing exchange is a refusal with the broker's code and leaves the publishing channel unharmed.
TEST_F(RabbitMq, ChecksExchangesBesideThePublishingChannel) {
  const std::string present = exchange("topic");
  const std::string to = queue();
  EXPECT_EQ(why(channel_->check_exchange("", kAmple)), "opened");
  EXPECT_EQ(why(channel_->check_exchange("amq.topic", kAmple)), "opened");
  EXPECT_EQ(why(channel_->check_exchange(present, kAmple)), "opened");
  for (int i = 0; i < 2; ++i) {
    const auto failure = channel_->check_exchange(present + "-nope", kAmple);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->failure_class, FailureClass::refusal);
    EXPECT_EQ(failure->code, 404);
    EXPECT_THAT(failure->server_text, HasSubstr(present + "-nope"));
  }
  message("", to);
  EXPECT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));
}

// Publishing to a missing exchange closes the channel with 404; what was open on it is in doubt, and a new channel works.
TEST_F(RabbitMq, ClosesTheChannelOverAMissingExchange) {
  const std::string to = queue();
  message("no-such-exchange", "key");
  message("", to);
  auto seen = publish(1);
  while (!seen.empty() && seen.back().kind != Kind::channel_closed) seen = events(1);
  ASSERT_THAT(seen, Not(IsEmpty()));
  EXPECT_EQ(seen.back().code, 404);
  EXPECT_THAT(seen.back().text, HasSubstr("no-such-exchange"));
  EXPECT_FALSE(channel_->is_open());

  ASSERT_EQ(why(channel_->open(kAmple)), "opened");
  messages_.clear();
  message("", to);
  EXPECT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));
}

// A full queue that rejects publishes nacks them.
TEST_F(RabbitMq, NacksWhenTheQueueIsFull) {
  const std::string to = queue({{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
  message("", to);
  EXPECT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));
  EXPECT_THAT(publish(1), ElementsAre(is(Kind::nacked)));
}

// A wrong password and a missing vhost are outages that say what is wrong, and hold no password.
TEST_F(RabbitMq, RefusesWrongPasswordAndMissingVhost) {
  const amqp::Url url = amqp::parse_url(amqp::test_broker_url());
  AmqpTransport wrong_password("amqp://acemq-nobody:5ecret@" + amqp::endpoint(url));
  auto failure = wrong_password.publish_channel()->open(kAmple);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->code, 403);
  EXPECT_EQ(failure->reason, "login refused by " + amqp::endpoint(url) + " for user 'acemq-nobody'");
  EXPECT_THAT(failure->server_text, Not(HasSubstr("5ecret")));

  AmqpTransport missing_vhost("amqp://" + url.user + ":" + url.password + "@" + amqp::endpoint(url) + "/acemq-no-such-vhost");
  failure = missing_vhost.publish_channel()->open(kAmple);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->code, 530);
  EXPECT_THAT(failure->reason, HasSubstr("vhost 'acemq-no-such-vhost' refused"));
}

// Declaring what exists otherwise is refused in the broker's words; a binding made here routes.
TEST_F(RabbitMq, DeclaresAndBinds) {
  const std::string to = queue();
  const std::string through = exchange("topic");
  transport_.bind({.queue = to, .exchange = through, .routing_key = "order.#"});
  message(through, "order.placed");
  EXPECT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));
  EXPECT_EQ(RabbitMqPeer().depth(to), 1U);
  try {
    transport_.declare(QueueDeclaration{.name = to, .arguments = {{"x-max-length", 1}}});
    FAIL() << "accepted";
  } catch (const PublishError& error) {
    EXPECT_EQ(error.failure().code, 406);
    EXPECT_THAT(error.failure().server_text, HasSubstr("x-max-length"));
  }
}

// A rendered envelope with application headers of every kind, read by librabbitmq: properties, names, types and values are those
// of CONTRACT 6 and 7, and there is nothing else.
TEST_F(RabbitMq, AnIndependentClientSeesTheContract) {
  const std::string to = queue();
  const std::string through = exchange("direct");
  transport_.bind({.queue = to, .exchange = through, .routing_key = "order.placed"});
  Envelope envelope;
  envelope.id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  envelope.type = "order.placed.v2";
  envelope.version = 2;
  envelope.correlation = "order-7";
  envelope.first_seen_ms = 1'767'323'045'678;
  envelope.origin = "shop@web-1";
  envelope.headers = {{"text", "gr\xC3\xBC\xC3\x9F"},
                      {"yes", true},
                      {"small", -7},
                      {"large", std::int64_t{1} << 40},
                      {"half", 0.5},
                      {"nothing", nullptr},
                      {"list", HeaderList{"a", 1, HeaderList{}}},
                      {"table", Headers{{"b", false}, {"c", 2}}}};
  Message& sent = message(through, "order.placed");
  sent.message_id = envelope.id;
  sent.headers = render(envelope, sent.routing_key);
  sent.body = std::string("{\"total\":\"12,\xE2\x82\xAC\0\"}", 19);
  ASSERT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));

  const auto seen = RabbitMqPeer().consume(to);
  EXPECT_EQ(seen.exchange, through);
  EXPECT_EQ(seen.routing_key, "order.placed");
  EXPECT_EQ(seen.body, sent.body);
  EXPECT_THAT(seen.properties, UnorderedElementsAre(Pair("content_type", "application/json"), Pair("delivery_mode", "2"),
                                                    Pair("message_id", envelope.id), Pair("headers", "present")));
  EXPECT_THAT(
      seen.headers,
      UnorderedElementsAre(Pair("x-acemq-id", "S:" + envelope.id), Pair("x-acemq-type", "S:order.placed.v2"),
                           Pair("x-acemq-version", "I:2"), Pair("x-acemq-correlation", "S:order-7"),
                           Pair("x-acemq-attempt", "I:1"), Pair("x-acemq-first-seen", "l:1767323045678"),
                           Pair("x-acemq-origin", "S:shop@web-1"), Pair("text", "S:gr\xC3\xBC\xC3\x9F"), Pair("yes", "t:true"),
                           Pair("small", "I:-7"), Pair("large", "l:1099511627776"), Pair("half", "d:0.500000"),
                           Pair("nothing", "V:"), Pair("list", "A:[S:a][I:1][A:]"), Pair("table", "F:[b=t:false][c=I:2]")));
}

// A body of many frames arrives whole.
TEST_F(RabbitMq, LargeBodyArrivesWhole) {
  const std::string to = queue();
  std::string body(1 << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31 % 251);
  message("", to).body = body;
  ASSERT_THAT(publish(1), ElementsAre(is(Kind::confirmed)));
  EXPECT_TRUE(RabbitMqPeer().consume(to).body == body);
}

}  // namespace
}  // namespace acemq
