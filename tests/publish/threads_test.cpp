// Many threads on one connection.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "publish/patient_broker.hpp"
#include "publish/publish_fixture.hpp"

namespace acemq::test {
namespace {

using Kind = PublishOutcome::Kind;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

// Runs `work(number)` on so many threads and waits for them.
template <class Work>
void on_threads(int threads, Work work) {
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([=] { work(i); });
}

// The messages of three threads are on the wire together: the broker confirms none before it has all three, so that a publisher
// that served one thread after the other would never get an answer.
TEST(Threads, ShareOneRoundTrip) {
  Publisher publisher{std::make_shared<PatientBroker>(3)};
  const MessageFactory factory{{.origin = "shop@web-1"}};
  std::atomic<int> confirmed = 0;
  on_threads(3, [&](int) { confirmed += publisher.publish(outbox::record(factory, "{}", {.to = "q"})).confirmed() ? 1 : 0; });
  EXPECT_EQ(confirmed, 3);
}

// A caller who has his outcome goes, whatever the others still wait for: one is refused at once while another's message is on the
// wire, and only his next message makes the broker confirm both.
TEST(Threads, NobodyWaitsForAnothersConfirm) {
  const auto broker = std::make_shared<PatientBroker>(2);
  Publisher publisher{broker};
  const MessageFactory factory{{.origin = "shop@web-1"}};
  Kind first = Kind::refused;
  std::jthread other([&] { first = publisher.publish(outbox::record(factory, "{}", {.to = "q"})).kind; });
  broker->await_message();
  EXPECT_EQ(publisher.publish(outbox::record(factory, "{}", {.to = "k", .exchange = "nowhere"})).kind, Kind::refused);
  EXPECT_TRUE(publisher.publish(outbox::record(factory, "{}", {.to = "q"})).confirmed());
  other.join();
  EXPECT_EQ(first, Kind::confirmed);
}

class ThreadsTest : public PublishTest {};

// Each of eight threads gets its own outcomes, in its own order, and every message is published once.
TEST_F(ThreadsTest, EachGetsItsOwnOutcomes) {
  constexpr int kThreads = 8, kBatches = 20, kBatch = 10;
  options.unconfirmed_max = 16;
  broker->answer_at_most(5);
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id.ends_with("7") ? Answer::nack() : Answer::confirm(); });
  connection();
  std::atomic<int> wrong = 0;
  on_threads(kThreads, [&](int thread) {
    for (int batch = 0; batch < kBatches; ++batch) {
      std::vector<std::string> ids;
      for (int i = 0; i < kBatch; ++i)
        ids.push_back(std::to_string(thread) + "-" + std::to_string(batch) + "-" + std::to_string(i));
      const BatchOutcome outcome = publish_all(ids);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const Kind expected = ids[i].ends_with("7") ? Kind::failed : Kind::confirmed;
        if (outcome.outcomes.at(i).id != ids[i] || outcome.outcomes[i].kind != expected) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(broker->publishes(), std::size_t{kThreads * kBatches * kBatch});
  EXPECT_EQ(broker->opened(), 1U);
}

// Without a broker nobody hangs, and nobody waits in turn for a connection of his own.
TEST_F(ThreadsTest, AnOutageRefusesAll) {
  broker->refuse_connections("away");
  connection();
  std::atomic<int> refused = 0;
  on_threads(4, [&](int thread) { refused += publish(std::to_string(thread)).kind == Kind::refused ? 1 : 0; });
  EXPECT_EQ(refused, 4);
}

// A transport that throws in the leading thread: that thread gets the exception, and the connection is usable afterwards.
TEST_F(ThreadsTest, AnExceptionOfTheTransportLeavesTheConnectionUsable) {
  broker->script([](const Message& message, std::size_t) -> Answer {
    if (message.message_id == "a") throw std::runtime_error("no memory");
    return Answer::confirm();
  });
  EXPECT_THROW((void)publish("a"), std::runtime_error);
  EXPECT_TRUE(publish("b").confirmed());
}

}  // namespace
}  // namespace acemq::test
