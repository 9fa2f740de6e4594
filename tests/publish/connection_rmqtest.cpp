// Direct publishing against a real RabbitMQ, at ACEMQ_TEST_AMQP_URL.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "acemq/amqp.hpp"
#include "acemq/connection.hpp"
#include "acemq/outbox/relay.hpp"
#include "acemq/testing.hpp"
#include "amqp/rabbitmq_peer.hpp"
#include "publish/publish_fixture.hpp"

namespace acemq::test {
namespace {

using amqp::RabbitMqPeer;
using Kind = PublishOutcome::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Queues and an exchange that no other test uses and that go when the test ends.
class ConnectionOnRabbitMq : public ::testing::Test {
 protected:
  void TearDown() override {
    RabbitMqPeer peer;
    for (const std::string& queue : queues_) peer.remove_queue(queue);
  }
  std::string queue(Headers arguments = {}) {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    queues_.push_back(std::string("acemq-test-") + test->name() + "-" + std::to_string(::getpid()) + "-" +
                      std::to_string(queues_.size()));
    transport_->declare(QueueDeclaration{.name = queues_.back(), .arguments = std::move(arguments)});
    return queues_.back();
  }
  outbox::Record to(const std::string& routing_key, const std::string& exchange = {}) const {
    return outbox::record(connection_.factory(), "{}", {.to = routing_key, .exchange = exchange});
  }

  std::shared_ptr<AmqpTransport> transport_ =
      std::make_shared<AmqpTransport>(amqp::test_broker_url(), AmqpOptions{.client_name = "acemq tests"});
  Connection connection_{MessageFactory{{.origin = "shop@web-1"}}, transport_};

 private:
  std::vector<std::string> queues_;
};

// P9: one record published directly and through an outbox and its relay; librabbitmq reads the same from both, every property and
// every header with its type.
TEST_F(ConnectionOnRabbitMq, AnIndependentClientSeesTheSameBytesFromBothWays) {
  const std::string queue = this->queue();
  const auto record = outbox::record(connection_.factory(), R"({"total":"12,€"})",
                                     {.to = queue,
                                      .type = "order.placed.v2",
                                      .version = 2,
                                      .correlation = "order-7",
                                      .headers = {{"text", "grüß"},
                                                  {"yes", true},
                                                  {"small", -7},
                                                  {"large", std::int64_t{1} << 40},
                                                  {"whole", 2.0},
                                                  {"nothing", nullptr},
                                                  {"list", HeaderList{"a", 1, HeaderList{}}},
                                                  {"table", Headers{{"b", false}, {"c", 2}}}}});
  ASSERT_TRUE(connection_.publish(record).confirmed());
  const auto direct = RabbitMqPeer().consume(queue);

  testing::ManualClock clock;
  const auto store = std::make_shared<testing::MemoryStore>(clock);
  store->add(record);
  ASSERT_EQ(outbox::Relay(store, transport_).sweep(), 1U);
  const auto relayed = RabbitMqPeer().consume(queue);

  EXPECT_EQ(direct.exchange, relayed.exchange);
  EXPECT_EQ(direct.routing_key, relayed.routing_key);
  EXPECT_EQ(direct.body, relayed.body);
  EXPECT_EQ(direct.properties, relayed.properties);
  EXPECT_EQ(direct.headers, relayed.headers);
  EXPECT_EQ(direct.headers.size(), 15U);
}

// One batch with a confirmed, an unroutable, a nacked and an exchange-less message: each gets its own outcome, and the channel
// serves on.
TEST_F(ConnectionOnRabbitMq, EachOutcomeIsSeen) {
  const std::string queue = this->queue();
  const std::string full = this->queue({{"x-max-length", 1}, {"x-overflow", "reject-publish"}});
  ASSERT_TRUE(connection_.publish(to(full)).confirmed());
  std::vector<outbox::Record> records;
  records.push_back(to(queue));
  records.push_back(to(queue + "-nowhere"));
  records.push_back(to(full));
  records.push_back(to("key", queue + "-no-exchange"));
  records.push_back(to(queue));
  const BatchOutcome batch = connection_.publish_all(std::move(records));
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::confirmed, Kind::unroutable, Kind::failed, Kind::refused, Kind::confirmed));
  EXPECT_EQ(batch.outcomes[1].failure->server_text, "NO_ROUTE");
  EXPECT_EQ(batch.outcomes[2].failure->failure_class, FailureClass::overload);
  EXPECT_EQ(batch.outcomes[3].failure->code, 404);
  EXPECT_EQ(RabbitMqPeer().depth(queue), 2U);
}

// Ten thousand messages in one batch, beside three threads that publish one by one: all confirmed, all in the queue.
TEST_F(ConnectionOnRabbitMq, ALargeBatchAndThreadsShareTheChannel) {
  const std::string queue = this->queue();
  constexpr std::size_t kBatch = 10'000, kThreads = 3, kEach = 200;
  std::vector<outbox::Record> records;
  for (std::size_t i = 0; i < kBatch; ++i) records.push_back(to(queue));
  std::vector<std::size_t> confirmed(kThreads, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < kEach; ++i) confirmed[thread] += connection_.publish(to(queue)).confirmed() ? 1U : 0U;
      });
    }
    EXPECT_EQ(connection_.publish_all(std::move(records)).confirmed(), kBatch);
  }
  EXPECT_THAT(confirmed, ElementsAre(kEach, kEach, kEach));
  EXPECT_EQ(RabbitMqPeer().depth(queue), kBatch + kThreads * kEach);
}

// Nobody listens: refused with the address, nothing sent, no password in the text.
TEST(ConnectionWithoutRabbitMq, IsRefused) {
  Connection connection{MessageFactory{}, std::make_shared<AmqpTransport>("amqp://guest:5ecret@127.0.0.1:1/%2f")};
  const PublishOutcome outcome = connection.publish("{}", {.to = "queue"});
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_THAT(outcome.failure->reason, HasSubstr("127.0.0.1:1"));
  EXPECT_THAT(outcome.failure->reason + outcome.failure->server_text, ::testing::Not(HasSubstr("5ecret")));
}

}  // namespace
}  // namespace acemq::test
