// The program end to end: a SQLite file, RabbitMQ at ACEMQ_TEST_AMQP_URL, and librabbitmq to see what arrived.
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "app/broker_fixture.hpp"

namespace acemq::app::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using RelayRmq = BrokerTest;

// init, add and sweep: the message is in the queue, with its id; a second sweep has nothing to do.
TEST_F(RelayRmq, InitAddSweep) {
  const std::string id = acemq({"add", "--to", queue, R"({"order":1})", "--id", "A-1"}).out;
  const Finished run = acemq({"sweep"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("published 1 to "));
  EXPECT_THAT(peer.take_ids(queue), UnorderedElementsAre("A-1"));
  EXPECT_EQ(id, "A-1\n");

  EXPECT_THAT(acemq({"sweep", "--all"}).out, HasSubstr("published 0 to "));
  EXPECT_THAT(acemq({"status"}).out, HasSubstr("pending  0\n"));
}

// A message that no queue takes stays, with a reason and a hint; when a queue is there, it goes.
TEST_F(RelayRmq, UnroutableWaits) {
  const std::string later = queue + "-later";
  acemq({"add", "--to", later, "--id", "A-1", "{}"});
  const Finished refused = acemq({"sweep"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("312 NO_ROUTE"), HasSubstr("hint: no queue is bound")));
  EXPECT_THAT(acemq({"status", "--json"}).out, HasSubstr(R"("pending":1,"ready":0,"waiting":1)"));

  declare(later);
  const auto program = relay();
  ASSERT_TRUE(wait_for("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL", "1"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
  EXPECT_THAT(peer.take_ids(later), UnorderedElementsAre("A-1"));
}

// B53: stopped in the middle of a drain, at another moment each time, the relay settles what is in flight: no row stays leased,
// what is marked is what arrived, and nothing arrives twice; the next relay goes on at once.
TEST_F(RelayRmq, B53_StopInMidDrainLeavesNoLease) {
  constexpr std::size_t kRows = 3000;
  fill(kRows);
  std::multiset<std::string> arrived;
  int in_mid_drain = 0;
  for (int round = 1; round < 6; ++round) {
    const auto program = relay({"--window", "20", "--batch", "10"});
    ASSERT_TRUE(
        wait_for("SELECT count(*) >= " + std::to_string(round * 100) + " FROM acemq_outbox WHERE published_at IS NOT NULL", "1"));
    program->signal(SIGTERM);
    const Finished run = program->finish();
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox WHERE locked_by IS NOT NULL AND published_at IS NULL"), "0");
    for (std::string& id : peer.take_ids(queue)) arrived.insert(std::move(id));
    EXPECT_EQ(std::to_string(arrived.size()), value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"));
    if (arrived.size() < kRows) ++in_mid_drain;
  }
  EXPECT_GT(in_mid_drain, 0) << "too few rows for this machine";
  ASSERT_EQ(acemq({"sweep", "--all"}).exit_code, 0);
  for (std::string& id : peer.take_ids(queue)) arrived.insert(std::move(id));
  EXPECT_EQ(arrived, all_ids());
}

}  // namespace
}  // namespace acemq::app::testing
