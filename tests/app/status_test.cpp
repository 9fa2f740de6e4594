#include <gmock/gmock.h>

#include "app/program.hpp"

namespace acemq::app::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Status : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(acemq({"init"}).exit_code, 0); }
};

// An empty outbox has no oldest row.
TEST_F(Status, OfAnEmptyOutbox) {
  EXPECT_EQ(acemq({"status"}).out, "pending  0\n  ready    0\n  waiting  0\n  leased   0\n  retired  0\noldest   -\n");
  EXPECT_EQ(
      acemq({"status", "--json"}).out,
      "{\"db\":\"sqlite:shop.db\",\"table\":\"acemq_outbox\",\"pending\":0,\"ready\":0,\"waiting\":0,\"leased\":0,\"retired\":0,"
      "\"oldest\":null,\"oldest_age_seconds\":null}\n");
}

// Each kind of pending row is counted, by what stands in the table; published ones are not.
TEST_F(Status, CountsEachKindOfRow) {
  for (const char* id : {"plain", "waiting", "leased", "retired", "published"}) acemq({"add", "--to", "q", "--id", id, "{}"});
  query("UPDATE acemq_outbox SET created_at = '2026-01-02T03:04:05.000000Z' WHERE id = 'plain'");
  query("UPDATE acemq_outbox SET attempts = 1, locked_until = '9999-01-01T00:00:00.000000Z' WHERE id = 'waiting'");
  query("UPDATE acemq_outbox SET locked_by = 'x', locked_until = '9999-01-01T00:00:00.000000Z' WHERE id = 'leased'");
  query("UPDATE acemq_outbox SET attempts = 10 WHERE id = 'retired'");
  query("UPDATE acemq_outbox SET published_at = created_at WHERE id = 'published'");
  EXPECT_THAT(acemq({"status"}).out,
              MatchesRegex("pending  4\n  ready    1\n  waiting  1\n  leased   1\n  retired  1\noldest   [0-9]+ d [0-9]+ h\n"));
  EXPECT_THAT(acemq({"status", "--json"}).out, AllOf(HasSubstr(R"("pending":4,"ready":1,"waiting":1,"leased":1,"retired":1)"),
                                                     HasSubstr(R"("oldest":"2026-01-02T03:04:05.000000Z")")));
  EXPECT_THAT(acemq({"status", "--attempts", "11"}).out, HasSubstr("retired  0"));
}

// A writer in the middle of its transaction does not keep an operator from looking.
TEST_F(Status, WorksBesideAWriter) {
  sqlite3* writer = nullptr;
  sqlite3_open((folder / "shop.db").c_str(), &writer);
  sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
  EXPECT_EQ(acemq({"status"}).exit_code, 0);
  sqlite3_close(writer);
}

// A table that is not there is a wrong setting.
TEST_F(Status, NamesAMissingTable) {
  const Finished run = acemq({"status", "--table", "other"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--table"), HasSubstr("other"), HasSubstr("acemq init makes the table")));
}

// A ceiling that no relay takes is refused here, too.
TEST_F(Status, BoundsTheAttempts) {
  EXPECT_EQ(acemq({"status", "--attempts", "0"}).exit_code, 2);
  EXPECT_EQ(acemq({"status", "--attempts", "1001"}).exit_code, 2);
  EXPECT_EQ(acemq({"status", "--attempts", "1000"}).exit_code, 0);
}

}  // namespace
}  // namespace acemq::app::testing
