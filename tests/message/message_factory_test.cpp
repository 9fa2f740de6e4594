#include "acemq/message_factory.hpp"

#include <algorithm>
#include <regex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "acemq/error.hpp"
#include "acemq/testing/manual_clock.hpp"

namespace {

using acemq::MessageFactory;
using std::chrono::microseconds;

// Without an origin the host speaks for the service.
TEST(MessageFactory, OriginDefaultsToTheHost) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(MessageFactory().origin(), std::string("acemq@") + host);
  EXPECT_EQ(MessageFactory({.origin = "shop@web-1"}).origin(), "shop@web-1");
}

// An origin that no header could carry is refused at the start, not at the first message.
TEST(MessageFactory, RefusesAnImpossibleOrigin) {
  EXPECT_NO_THROW(MessageFactory({.origin = std::string(255, 'o')}));
  EXPECT_THROW(MessageFactory({.origin = std::string(256, 'o')}), acemq::InvalidConfiguration);
  EXPECT_THROW(MessageFactory({.origin = "shop@\xff"}), acemq::InvalidConfiguration);
  EXPECT_THROW(MessageFactory({.origin = std::string("a\0b", 3)}), acemq::InvalidConfiguration);
}

// A new envelope has a UUID of version 4, the origin and the clock's time.
TEST(MessageFactory, NewEnvelopeIsComplete) {
  const acemq::testing::ManualClock clock;
  const MessageFactory factory({.origin = "shop@web-1", .clock = &clock});
  const acemq::Envelope envelope = factory.new_envelope();
  EXPECT_TRUE(std::regex_match(envelope.id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")));
  EXPECT_EQ(envelope.origin, "shop@web-1");
  EXPECT_EQ(envelope.first_seen_ms, 1'767'323'045'678);
  EXPECT_NE(factory.new_envelope().id, envelope.id);
}

// A clock that stands still or steps back does not repeat or reverse created_at; a copy goes on where the original was.
TEST(MessageFactory, CreatedAtAlwaysRises) {
  acemq::testing::ManualClock clock;
  const MessageFactory factory({.clock = &clock});
  const auto first = factory.next_created_at();
  EXPECT_EQ(first, clock.now());
  EXPECT_EQ(factory.next_created_at(), first + microseconds(1));
  clock.step(-std::chrono::hours(1));
  const MessageFactory copy = factory;
  EXPECT_EQ(copy.next_created_at(), first + microseconds(2));
  clock.step(std::chrono::hours(2));
  EXPECT_EQ(factory.next_created_at(), clock.now());
}

// All factories of a process share the machine's clock, from any thread: no instant is given twice.
TEST(MessageFactory, CreatedAtIsUniqueInTheProcess) {
  std::vector<std::vector<acemq::Timestamp>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&mine] {
      const MessageFactory factory;
      for (int i = 0; i < 2000; ++i) mine.push_back(factory.next_created_at());
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<acemq::Timestamp> all;
  for (const auto& mine : seen) {
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
