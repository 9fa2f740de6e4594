// What the store's statements read, counted by SQLite itself: steps of its virtual machine, not time.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "store/sqlite/sqlite_sql.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string for_our_table(std::string_view statement) {
  std::string sql(statement);
  const std::pair<std::string_view, std::string_view> names[] = {{"{by_relay_index}", "INDEXED BY acemq_outbox_relay"},
                                                                 {"{by_waiting_index}", "INDEXED BY acemq_outbox_waiting"},
                                                                 {"{table}", "acemq_outbox"}};
  for (const auto& [name, value] : names) {
    for (std::size_t at = 0; (at = sql.find(name)) != std::string::npos;) sql.replace(at, name.size(), value);
  }
  return sql;
}

class SqlitePlanTest : public ::testing::Test {
 protected:
  void SetUp() override { database_.run("PRAGMA synchronous = OFF;" + sqlite_schema()); }

  // Rows of one state, each a second younger than the one before.
  void fill(int rows, const std::string& id, const std::string& key, const std::string& published_at, int attempts) const {
    database_.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(rows) +
        ") INSERT INTO acemq_outbox SELECT '" + id + "' || i, 'shop-events', '" + key +
        "', '{}', 'utf-8', 'application/json', '{}', strftime('%Y-%m-%dT%H:%M:%S.000000Z', 1767225600 + i, 'unixepoch'), " +
        published_at + ", " + std::to_string(attempts) + ", NULL, NULL, NULL FROM n");
  }

  std::string plan(std::string_view statement) const {
    std::string text;
    for (const std::string& line : database_.values("EXPLAIN QUERY PLAN " + for_our_table(statement))) text += line + "\n";
    return text;
  }
  // Runs it with these parameters and returns the steps it took.
  int steps(std::string_view statement, const std::vector<std::string>& parameters, int rows_expected) const {
    sqlite3_stmt* prepared = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database_.handle(), for_our_table(statement).c_str(), -1, &prepared, nullptr), SQLITE_OK);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const bool number = !parameters[i].empty() && parameters[i].size() < 6;
      const int index = static_cast<int>(i) + 1;
      if (number) {
        sqlite3_bind_int(prepared, index, std::stoi(parameters[i]));
      } else {
        sqlite3_bind_text(prepared, index, parameters[i].c_str(), -1, nullptr);
      }
    }
    int rows = 0;
    while (sqlite3_step(prepared) == SQLITE_ROW) ++rows;
    EXPECT_EQ(rows, rows_expected);
    const int steps = sqlite3_stmt_status(prepared, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(prepared);
    return steps;
  }
  int claim_steps(int rows_expected = 100) const {
    return steps(sqlite_sql::kCandidates, {"10", kNow, "", "100", kNow}, rows_expected);
  }

  static constexpr const char* kNow = "2026-06-01 00:00:00.000000";
  static constexpr const char* kPublished = "'2026-01-01T00:00:00.000000Z'";
  TempFolder folder_;
  Database database_{folder_.file("shop.db")};
};

// The claim walks our index in order, without sorting and without statistics, and still does once there are some.
TEST_F(SqlitePlanTest, B49_TheClaimWalksItsIndex) {
  fill(3000, "p", "order.placed", "NULL", 0);
  for (const char* statistics : {"", "ANALYZE"}) {
    database_.run(statistics);
    EXPECT_THAT(plan(sqlite_sql::kCandidates),
                AllOf(HasSubstr("acemq_outbox_relay"), HasSubstr("acemq_outbox_waiting"), Not(HasSubstr("TEMP B-TREE"))));
  }
}

// Its cost follows neither the backlog nor the history.
TEST_F(SqlitePlanTest, B49_TheClaimCostsTheSameInALargeTable) {
  fill(200, "p", "order.placed", "NULL", 0);
  const int small = claim_steps();
  fill(20'000, "q", "order.placed", "NULL", 0);
  fill(20'000, "h", "order.placed", kPublished, 0);
  EXPECT_LE(claim_steps(), small * 11 / 10);
}

// Rows of a waiting lane, and retired rows, are passed by within the index: a few steps each, no row read.
TEST_F(SqlitePlanTest, WaitingAndRetiredRowsInFrontCostFewSteps) {
  fill(5000, "slow", "slow", "NULL", 0);
  fill(5000, "poison", "poison", "NULL", 10);
  fill(100, "z", "order.placed", "NULL", 0);
  database_.run("UPDATE acemq_outbox SET locked_until = '2026-12-01T00:00:00.000000Z' WHERE id = 'slow1'");
  EXPECT_LT(claim_steps(), 10'000 * 20);
}

// Many lanes may wait at once, one for each order, say: each is read once, not once more for every row that is claimed.
TEST_F(SqlitePlanTest, ManyWaitingLanesAreReadOnce) {
  fill(2000, "w", "lane", "NULL", 0);
  database_.run("UPDATE acemq_outbox SET routing_key = id, locked_until = '2026-12-01T00:00:00.000000Z'");
  fill(100, "z", "order.placed", "NULL", 0);
  EXPECT_LT(claim_steps(), 2100 * 50);
}

// Counting pending rows reads no history, and purging reads only what it deletes.
TEST_F(SqlitePlanTest, B49_CountingAndPurgingReadNoMoreThanTheyMust) {
  fill(100, "p", "order.placed", "NULL", 0);
  const int count = steps(sqlite_sql::kBacklog, {"10", kNow}, 1);
  fill(20'000, "h", "order.placed", kPublished, 0);
  EXPECT_LE(steps(sqlite_sql::kBacklog, {"10", kNow}, 1), count * 11 / 10);

  const std::vector<std::string> before{"2025-12-31 00:00:00.000000", "2025-12-31T", "2025-12-31T00:00:00.000000Z", "1000"};
  EXPECT_LT(steps(sqlite_sql::kPurgePublished, before, 0), 200) << "nothing is old enough";
}

}  // namespace
}  // namespace acemq::test
