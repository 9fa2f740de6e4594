// The relay over a store in memory and a broker without a socket: no thread, no sleep.
#include "acemq/outbox/relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "acemq/outbox/record.hpp"
#include "acemq/testing.hpp"
#include "relay_fixture.hpp"

namespace acemq::outbox {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using testing::RelayTest;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A committed record is published once, unchanged, and marked.
TEST_F(RelayTest, SweepPublishesAndMarks) {
  add("a", "orders", "placed");
  EXPECT_EQ(relay().sweep(), 1u);
  ASSERT_THAT(broker->published(), SizeIs(1));
  EXPECT_EQ(broker->published()[0].message_id, "a");
  EXPECT_EQ(broker->published()[0].body, R"({"id":"a"})");
  EXPECT_EQ(pending(), 0u);
}

}  // namespace
}  // namespace acemq::outbox
