// A relay that is killed: nothing is lost, and little is repeated. Needs RabbitMQ at ACEMQ_TEST_AMQP_URL.
#include <memory>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "app/broker_fixture.hpp"

namespace acemq::app::testing {
namespace {

using RelayCrash = BrokerTest;

// Killed in mid-drain, again and again; a last relay delivers the rest once the leases of the dead have run out. Every message
// arrives, and what arrives twice was at a kill in flight, or confirmed and not yet marked: at most a window of each (P5).
TEST_F(RelayCrash, KilledInMidDrainLosesNothing) {
  constexpr std::size_t kRows = 3000, kKills = 3, kWindow = 50;
  fill(kRows);
  std::size_t in_mid_drain = 0;
  for (std::size_t kill = 1; kill <= kKills; ++kill) {
    const auto program = relay({"--window", std::to_string(kWindow), "--batch", "10", "--lease", "5s"});
    ASSERT_TRUE(
        wait_for("SELECT count(*) >= " + std::to_string(kill * 100) + " FROM acemq_outbox WHERE published_at IS NOT NULL", "1"));
    program->signal(SIGKILL);
    EXPECT_EQ(program->finish().exit_code, -SIGKILL);
    if (value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NULL") != "0") ++in_mid_drain;
  }
  EXPECT_GT(in_mid_drain, 0u) << "too few rows for this machine";
  const auto program = relay({"--interval", "100ms", "--lease", "5s"});
  ASSERT_TRUE(wait_for("SELECT count(*) FROM acemq_outbox WHERE published_at IS NULL", "0"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);

  const std::vector<std::string> arrived = peer.take_ids(queue);
  EXPECT_EQ(std::set<std::string>(arrived.begin(), arrived.end()).size(), kRows);
  EXPECT_LE(arrived.size(), kRows + kKills * 2 * kWindow);
}

}  // namespace
}  // namespace acemq::app::testing
