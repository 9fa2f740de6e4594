// The SQL that docs/guide/operating.md gives to operators, read from there, does what it says there.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acemq/testing.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

// The block of SQL that begins with the comment `title`.
std::string sql_of(const std::string& title) {
  std::ifstream file(ACEMQ_TEST_DATA "/../../docs/guide/operating.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string begin = "```sql\n-- " + title;
  const auto at = text.str().find(begin);
  if (at == std::string::npos) throw std::logic_error("the guide has no block: " + title);
  return text.str().substr(at + 7, text.str().find("\n```", at) - at - 7);
}

// On a table of this library, and on one of the Rails migration: their times have different forms.
class OperatingGuideTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    database_.run(GetParam());
    for (const char* id : {"order-A-1", "order-A-2", "order-A-3"}) database_.add(make_record(id, clock_.now()));
  }

  void retire(const std::string& ids) {
    database_.run("UPDATE acemq_outbox SET attempts = 10, last_error = 'no queue' WHERE id IN (" + ids + ")");
  }
  std::vector<std::string> claim() {
    std::vector<std::string> ids;
    for (const outbox::Row& row : SqliteStore(path_, {.clock = &clock_}).claim({.token = "relay"})) ids.push_back(row.id);
    return ids;
  }
  std::string value(const std::string& column, const std::string& id) {
    return database_.value("SELECT " + column + " FROM acemq_outbox WHERE id = '" + id + "'");
  }

  TempFolder folder_;
  std::string path_ = folder_.file("shop.db");
  Database database_{path_};
  testing::ManualClock clock_;
};

// Retired rows and no others are listed, with their reason.
TEST_P(OperatingGuideTest, RetiredRowsAreListed) {
  retire("'order-A-1', 'order-A-3'");
  const auto values = database_.values(sql_of("what there is, and why"));
  ASSERT_EQ(values.size(), 2 * 6U);
  EXPECT_EQ(values[0], "order-A-1");
  EXPECT_EQ(values[5], "no queue");
  EXPECT_EQ(values[6], "order-A-3");
}

// A row that is brought back is claimed as if it had never failed; the other one stays where it is.
TEST_P(OperatingGuideTest, OneRowComesBack) {
  retire("'order-A-1', 'order-A-3'");
  database_.run(sql_of("one\n"));
  EXPECT_THAT(claim(), ElementsAre("order-A-1", "order-A-2"));
  EXPECT_EQ(value("attempts || ifnull(last_error, '-')", "order-A-1"), "0-");
}

// A discarded row keeps its old reason behind the new one, and stays when all others are brought back.
TEST_P(OperatingGuideTest, AllComeBackButTheDiscarded) {
  retire("'order-A-1', 'order-A-3'");
  database_.run(sql_of("one that must not go out"));
  database_.run(sql_of("all that nobody has discarded"));
  EXPECT_THAT(claim(), ElementsAre("order-A-2", "order-A-3"));
  EXPECT_EQ(value("last_error", "order-A-1"), "discarded: the order was a test; no queue");
}

// Discarding a row that a relay has in hand: its failure changes nothing any more, its success is still noted.
TEST_P(OperatingGuideTest, DiscardingBesideARelay) {
  SqliteStore store(path_, {.clock = &clock_});
  ASSERT_EQ(store.claim({.token = "relay"}).size(), 3U);
  database_.run(sql_of("one that must not go out"));

  const outbox::RowFailure failure{.lease = {"order-A-1", "relay"}, .reason = "no queue", .counts = true};
  EXPECT_EQ(store.fail({&failure, 1}), 0U);
  EXPECT_EQ(value("last_error", "order-A-1"), "discarded: the order was a test; ");
  const std::string id = "order-A-1";
  store.mark_published({&id, 1});
  EXPECT_EQ(value("published_at IS NOT NULL", "order-A-1"), "1");
}

// Purging deletes what is older than the days given, in pieces, in either form of time, and nothing that is not published.
TEST_P(OperatingGuideTest, OldPublishedRowsGoInPieces) {
  for (const char* form : {"'%Y-%m-%dT%H:%M:%f000Z'", "'%Y-%m-%d %H:%M:%f000'"}) {
    database_.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) INSERT INTO acemq_outbox (id, "
        "exchange_name, "
        "routing_key, body, body_encoding, content_type, headers, created_at, published_at) SELECT " +
        std::string(form) + " || i, '', 'q', '', 'utf-8', 't', '{}', '2020-01-01', strftime(" + form +
        ", 'now', CASE WHEN i <= 599 THEN '-15 days' ELSE '-13 days' END) FROM n");
  }
  std::vector<std::string> deleted;
  do {
    deleted.push_back(database_.value(sql_of("published more than 14 days ago")));
  } while (deleted.back() != "0" && deleted.size() < 10);
  EXPECT_THAT(deleted, ElementsAre("1000", "198", "0"));
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox"), std::to_string(3 + 2));
}

INSTANTIATE_TEST_SUITE_P(Tables, OperatingGuideTest, ::testing::Values(sqlite_schema(), rails_schema()),
                         [](const auto& tested) { return tested.index == 0 ? "Ours" : "Rails"; });

}  // namespace
}  // namespace acemq::test
