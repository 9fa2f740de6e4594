#include "acemq/sqlite_store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include "acemq/error.hpp"
#include "acemq/testing/manual_clock.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using outbox::Row;
using outbox::TimeFormat;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ManualClock;

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStore open(TimeFormat format = TimeFormat::automatic) const {
    return SqliteStore(path_, {.time_format = format, .clock = &clock_});
  }

  // A row as another writer left it; times and id as SQL literals.
  void insert(const std::string& id, const std::string& created_at, const std::string& lock = "NULL, NULL",
              const std::string& key = "order.placed") const {
    database_.run("INSERT INTO acemq_outbox VALUES (" + id + ", 'shop-events', '" + key +
                  "', '{}', 'utf-8', 'application/json', '', " + created_at + ", NULL, 0, NULL, " + lock + ")");
  }
  std::vector<Row> claim(SqliteStore& store, const std::string& token = "a", std::size_t rows_max = 100) const {
    return store.claim({.token = token, .rows_max = rows_max});
  }
  std::vector<std::string> claim_ids(SqliteStore& store, const std::string& token = "a", std::size_t rows_max = 100) const {
    std::vector<std::string> ids;
    for (const Row& row : claim(store, token, rows_max)) ids.push_back(row.id);
    return ids;
  }

  // The message of the InvalidConfiguration that opening throws.
  std::string refusal(SqliteStoreOptions options = {}) const {
    try {
      const SqliteStore store(path_, std::move(options));
    } catch (const InvalidConfiguration& error) {
      return error.what();
    }
    return "";
  }

  ManualClock clock_;  // stands at 2026-01-02 03:04:05.678901
  TempFolder folder_;
  std::string path_ = folder_.file("shop.db");
  Database database_{path_};
};

// Opening

// A table of a sibling's other shape is refused by what it has, and never guessed at (CONTRACT 1.2).
TEST_F(SqliteStoreTest, OtherShapesAreRefusedWithTheirColumns) {
  const std::pair<const char*, const char*> shapes[] = {
      {"id, exchange_name, routing_key, body, content_type, headers, created_at, attempts, last_error", "Python"},
      {"id, exchange, routing_key, body, content_type, headers, created_at, attempts, last_error", "Go"},
      {"id, exchange_name, routing_key, message_type, payload, correlation_id, created_at, published_at", "Java"},
      {"id, exchange, routing_key, type, payload, created_at, published, leased_until", ".NET"},
      {"id, payload, sent", "found: id, payload, sent"},
  };
  for (const auto& [columns, name] : shapes) {
    database_.run("DROP TABLE IF EXISTS acemq_outbox; CREATE TABLE acemq_outbox (" + std::string(columns) + ")");
    EXPECT_THAT(refusal(), AllOf(HasSubstr(columns), HasSubstr(name)));
  }
}

// What cannot work is refused with its name before anything is touched.
TEST_F(SqliteStoreTest, BadOptionsAreRefused) {
  EXPECT_THAT(refusal(), HasSubstr("must exist"));
  database_.run(sqlite_schema());
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(refusal({.table = "acemq_outbox\n"}), HasSubstr("table"));
  EXPECT_THAT(refusal({.table = "x; DROP TABLE acemq_outbox"}), HasSubstr("table"));
  EXPECT_THAT(refusal({.busy_timeout = std::chrono::milliseconds(0)}), HasSubstr("busy_timeout"));
  EXPECT_THAT(refusal({.busy_timeout = hours(1)}), HasSubstr("busy_timeout"));
  EXPECT_THROW(sqlite_schema("a b"), InvalidConfiguration);
}

// A missing file is not created, another kind of file is not touched; both errors carry SQLite's code.
TEST_F(SqliteStoreTest, FilesAreNeverCreated) {
  const auto code = [](const std::string& path) {
    try {
      const SqliteStore store(path);
    } catch (const StoreError& error) {
      return error.code();
    }
    return std::string();
  };
  EXPECT_EQ(code(folder_.file("missing.db")), std::to_string(SQLITE_CANTOPEN));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("missing.db")));
  std::ofstream(folder_.file("text.db")) << std::string(4096, 'x');
  EXPECT_EQ(code(folder_.file("text.db")), std::to_string(SQLITE_NOTADB));
}

// A file without write permission is refused at once, not at the first claim.
TEST_F(SqliteStoreTest, AReadOnlyFileIsRefused) {
  database_.run(sqlite_schema());
  std::filesystem::permissions(std::filesystem::path(path_).parent_path(), std::filesystem::perms(0755));
  std::filesystem::permissions(path_, std::filesystem::perms(0444));
  const auto open_as_nobody = [&] {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);  // permissions do not bind root
    try {
      const SqliteStore store{path_};
    } catch (const StoreError& error) {
      std::fputs(error.what(), stderr);
      _exit(0);
    }
    _exit(1);
  };
  EXPECT_EXIT(open_as_nobody(), ::testing::ExitedWithCode(0), "readonly|read-only|permission");
}

// Journal mode and schema are the application's: opening and working leave them as they are.
TEST_F(SqliteStoreTest, AUsersFileIsNotChanged) {
  database_.run(rails_schema());
  const auto schema = database_.values("SELECT sql FROM sqlite_schema ORDER BY name");
  database_.add(make_record("1", clock_.now()));
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store), ElementsAre("1"));
  EXPECT_EQ(database_.values("SELECT sql FROM sqlite_schema ORDER BY name"), schema);
  EXPECT_EQ(database_.value("PRAGMA journal_mode"), "delete");
}

// The schema can be run again, gives a sibling's table our indexes, and a table may have any legal name.
TEST_F(SqliteStoreTest, TheSchemaIsSafeToRunAgain) {
  database_.run(rails_schema() + sqlite_schema() + sqlite_schema());
  EXPECT_THAT(database_.values("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"),
              ElementsAre("acemq_outbox_pending", "acemq_outbox_relay", "acemq_outbox_waiting"));
  EXPECT_EQ(database_.value("SELECT type FROM pragma_table_info('acemq_outbox') WHERE name = 'created_at'"), "datetime(6)");
  database_.run(sqlite_schema("order"));
  EXPECT_EQ(refusal({.table = "order"}), "");
}

// Time formats (CONTRACT 2.3)

class SqliteStoreFormatTest : public SqliteStoreTest {
 protected:
  // How a store writes a lease, tried on a row that another store's lease has been taken from.
  std::string written(SqliteStore& store) const {
    store.mark_published(std::vector<std::string>{"1"});
    const std::string text = database_.value("SELECT published_at FROM acemq_outbox WHERE id = '1'");
    database_.run("UPDATE acemq_outbox SET published_at = NULL");
    return text;
  }
  static constexpr const char* kIso = "2026-01-02T03:04:05.678901Z";
  static constexpr const char* kRails = "2026-01-02 03:04:05.678901";
};

// Who made the table decides while it is empty, then its newest row, and an explicit choice always.
TEST_F(SqliteStoreFormatTest, TimesAreWrittenAsTheTableHoldsThem) {
  database_.run(rails_schema());
  SqliteStore empty_at_open = open();
  insert("'1'", "'2026-01-02T03:04:05.000000Z'");
  EXPECT_EQ(written(empty_at_open), kIso) << "the row's format wins over the declared type, also when it came later";
  SqliteStore store = open();
  EXPECT_EQ(written(store), kIso);
  SqliteStore explicit_choice = open(TimeFormat::rails);
  EXPECT_EQ(written(explicit_choice), kRails);
  database_.run("UPDATE acemq_outbox SET created_at = 17");
  SqliteStore declared = open();
  EXPECT_EQ(written(declared), kRails) << "a row that does not tell leaves it to the declared type";
}

// The same on a table of ours, with a lease and a wait.
TEST_F(SqliteStoreFormatTest, OurOwnTableHoldsIsoTimes) {
  database_.run(sqlite_schema());
  database_.add(make_record("1", clock_.now()));
  SqliteStore store = open();
  EXPECT_EQ(written(store), kIso);
  store.claim({.token = "a", .lease = seconds(60)});
  EXPECT_EQ(database_.value("SELECT locked_until FROM acemq_outbox"), "2026-01-02T03:05:05.678901Z");
  const outbox::RowFailure failure{.lease = {"1", "a"}, .reason = "nack", .wait = seconds(1)};
  store.fail({&failure, 1});
  EXPECT_EQ(database_.value("SELECT locked_until FROM acemq_outbox"), "2026-01-02T03:04:06.678901Z");
}

// Two formats in one table: as raw text a Rails lease of today looks over, and an ISO lease live until tomorrow.
TEST_F(SqliteStoreFormatTest, LeasesOfTheOtherFormatAreRespected) {
  database_.run(sqlite_schema());
  insert("'live rails'", "'2026-01-02 03:00:00.000000'", "'x', '2026-01-02 03:04:06.000000'");
  insert("'live iso'", "'2026-01-02T03:00:01.000000Z'", "'x', '2026-01-02T03:04:06.000000Z'");
  insert("'over rails'", "'2026-01-02 03:00:02.000000'", "'x', '2026-01-02 03:04:05.000000'");
  insert("'over iso'", "'2026-01-02T03:00:03.000000Z'", "'x', '2026-01-02T03:04:05.000000Z'");
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store), ElementsAre("over rails", "over iso"));
  clock_.advance(seconds(1));
  EXPECT_THAT(claim_ids(store), ElementsAre("live rails", "live iso"));
}

// Rows of both formats are sent in the order of their instants.
TEST_F(SqliteStoreFormatTest, BothFormatsAreOrderedAsOne) {
  database_.run(sqlite_schema());
  insert("'3'", "'2026-01-02 03:00:03.000000'");
  insert("'1'", "'2026-01-02T03:00:01.000000Z'");
  insert("'2'", "'2026-01-02 03:00:02.000000'");
  insert("'4'", "'2026-01-02T03:00:04.000000Z'");
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store, "a", 3), ElementsAre("1", "2", "3"));
  EXPECT_THAT(claim_ids(store), ElementsAre("4"));
}

// Every form that siblings write is read as the same instant, whatever zone this process runs in.
TEST_F(SqliteStoreFormatTest, B57_TimesAreReadAsTheInstantsTheyAre) {
  database_.run(sqlite_schema());
  const char* forms[] = {"'2026-01-02T03:04:05.678901Z'",      "'2026-01-02 03:04:05.678901'",
                         "'2026-01-02 08:34:05.678901+05:30'", "'2026-01-02 03:04:05.678901 +0000 UTC'",
                         "'2026-01-02T03:04:05.678901+00:00'", "'2026-01-02 03:04:05.6789012'",
                         "'2026-01-02T03:04:05.678901234Z'"};
  for (const char* form : forms) insert("'" + std::to_string(&form - forms) + "x" + std::string(form).substr(1, 60), form);
  SqliteStore store = open();
  const auto rows = claim(store);
  EXPECT_EQ(rows.size(), std::size(forms));
  for (const Row& row : rows) EXPECT_EQ(row.created_at, clock_.now()) << row.id;
}

// A row whose time nobody can read goes first and goes out (P3: no fourth state).
TEST_F(SqliteStoreFormatTest, AnUnreadableTimeComesFirst) {
  database_.run(sqlite_schema());
  insert("'readable'", "'2026-01-02T03:00:00.000000Z'");
  insert("'unreadable'", "'yesterday'");
  insert("'empty'", "''");
  insert("'milliseconds'", "1767323045678");
  SqliteStore store = open();
  const auto rows = claim(store, "a", 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].id, "empty");
  EXPECT_EQ(rows[1].id, "unreadable");
  EXPECT_EQ(rows[1].created_at, Timestamp{});
  EXPECT_THAT(claim_ids(store), ElementsAre("readable", "milliseconds"));
  EXPECT_EQ(store.backlog(10)->leased, 4u);
}

// Purging goes by the instant in either format, within a day as well.
TEST_F(SqliteStoreFormatTest, PurgingUnderstandsBothFormats) {
  database_.run(sqlite_schema());
  const char* times[] = {"2026-01-01T23:00:00.000000Z", "2026-01-01 23:00:00.000000",  "2026-01-02T03:04:05.678900Z",
                         "2026-01-02 03:04:05.678900",  "2026-01-02T03:04:05.678901Z", "2026-01-02 03:04:05.678901",
                         "2026-01-03 00:00:00.000000",  "2026-01-03T00:00:00.000000Z"};
  for (const char* time : times) insert("'" + std::string(time) + "'", "'2026-01-01T00:00:00.000000Z'");
  database_.run("UPDATE acemq_outbox SET published_at = id");
  SqliteStore store = open();
  EXPECT_EQ(store.purge_published(clock_.now(), 3), 3u);
  EXPECT_EQ(store.purge_published(clock_.now(), 3), 1u);
  EXPECT_THAT(database_.values("SELECT id FROM acemq_outbox ORDER BY rowid"),
              ElementsAre(times[4], times[5], times[6], times[7]));
}

// Rows of other writers

// An id stored as a blob equals no text, and still has to be claimed, marked, failed and released (CONTRACT 2.1).
TEST_F(SqliteStoreTest, BlobIdsAreMatched) {
  database_.run(sqlite_schema());
  for (const char* id : {"a", "b", "c"}) {
    insert("CAST('" + std::string(id) + "' AS BLOB)", "'2026-01-02T03:00:00.000000Z'", "NULL, NULL", id);
  }
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store, "t"), ElementsAre("a", "b", "c"));
  store.mark_published(std::vector<std::string>{"a"});
  const outbox::RowFailure failure{.lease = {"b", "t"}, .reason = "refused", .counts = true};
  EXPECT_EQ(store.fail({&failure, 1}), 1u);
  const outbox::Lease lease{"c", "t"};
  EXPECT_EQ(store.renew({&lease, 1}, seconds(60)), 1u);
  EXPECT_EQ(store.release({&lease, 1}, ""), 1u);
  EXPECT_THAT(database_.values("SELECT typeof(id), published_at IS NOT NULL, attempts, locked_by FROM acemq_outbox ORDER BY id"),
              ElementsAre("blob", "1", "0", "NULL", "blob", "0", "1", "NULL", "blob", "0", "0", "NULL"));
}

// Text is counted by length, not up to a NUL.
TEST_F(SqliteStoreTest, B38_NulBytesDoNotCutARow) {
  database_.run(sqlite_schema());
  insert("'1'", "'2026-01-02T03:00:00.000000Z'");
  database_.run("UPDATE acemq_outbox SET body = CAST(x'610062' AS TEXT), headers = CAST(x'7B007D' AS TEXT)");
  SqliteStore store = open();
  const auto rows = claim(store);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].body, std::string("a\0b", 3));
  EXPECT_EQ(rows[0].headers, std::string("{\0}", 3));
}

// Equal messages of one transaction are told apart by id and sent in id order.
TEST_F(SqliteStoreTest, B16_EqualMessagesAreAllClaimedAndMarked) {
  database_.run(sqlite_schema());
  for (int i = 0; i < 10; ++i) database_.add(make_record("id-" + std::to_string(i), clock_.now(), "order.placed", "same"));
  SqliteStore store = open();
  const std::vector<std::string> ids = claim_ids(store);
  EXPECT_EQ(ids.size(), 10u);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  store.mark_published(ids);
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"), "10");
}

// The order is the table's, not that of storage: rows are written backwards and rewritten larger before being claimed.
TEST_F(SqliteStoreTest, B22_BatchesComeInOrderWhateverTheStorage) {
  database_.run(sqlite_schema() + "BEGIN");
  for (int i = 999; i >= 0; --i) {
    database_.add(make_record("id-" + std::to_string(i * 7919 % 1000), clock_.now() - seconds(10) + microseconds(i)));
  }
  database_.run("COMMIT; UPDATE acemq_outbox SET last_error = hex(zeroblob(400)) WHERE rowid % 3 = 0; VACUUM");
  SqliteStore store = open();
  Timestamp last{};
  std::size_t claimed = 0;
  for (int batch = 0; batch < 10; ++batch) {
    for (const Row& row : claim(store, "t" + std::to_string(batch))) {
      EXPECT_LT(last, row.created_at);
      last = row.created_at;
      ++claimed;
    }
  }
  EXPECT_EQ(claimed, 1000u);
}

// Relay A is frozen, B takes over and fails row 6: what A then writes changes nothing, but what it had sent stays sent.
TEST_F(SqliteStoreTest, B10_AStaleOwnerChangesNothing) {
  database_.run(sqlite_schema());
  for (int i = 0; i < 10; ++i)
    database_.add(make_record("row-" + std::to_string(i), clock_.now() - seconds(10) + microseconds(i)));
  SqliteStore a = open();
  SqliteStore b = open();
  a.claim({.token = "a", .lease = seconds(2)});
  clock_.advance(seconds(2));
  EXPECT_EQ(b.claim({.token = "b", .lease = seconds(60)}).size(), 10u);
  b.mark_published(std::vector<std::string>{"row-0", "row-1"});
  const outbox::RowFailure nacked{.lease = {"row-6", "b"}, .reason = "nacked at b", .counts = true, .wait = seconds(10)};
  b.fail({&nacked, 1});

  const std::vector<outbox::Lease> stale{{"row-1", "a"}, {"row-6", "a"}, {"row-7", "a"}};
  const outbox::RowFailure late{.lease = {"row-6", "a"}, .reason = "nacked at a", .counts = true};
  EXPECT_EQ(a.fail({&late, 1}), 0u);
  EXPECT_EQ(a.release(stale, "late"), 0u);
  EXPECT_EQ(a.renew(stale, seconds(60)), 0u);
  a.mark_published(std::vector<std::string>{"row-0", "row-7"});

  EXPECT_THAT(database_.values("SELECT attempts, last_error, locked_until IS NOT NULL FROM acemq_outbox WHERE id = 'row-6'"),
              ElementsAre("1", "nacked at b", "1"));
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"), "3");
}

// A retired row is listed with its reason, survives a purge, and works again once an operator resets its attempts.
TEST_F(SqliteStoreTest, B24_RetiredRowsHaveAWayOut) {
  database_.run(sqlite_schema());
  for (int i = 0; i < 5; ++i) database_.add(make_record("row-" + std::to_string(i), clock_.now() + microseconds(i)));
  database_.run("UPDATE acemq_outbox SET attempts = 10, last_error = 'no route'");
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store), IsEmpty());
  EXPECT_EQ(store.purge_published(clock_.now() + hours(24), 100), 0u);
  const auto retired = store.retired(10, 100);
  ASSERT_EQ(retired.size(), 5u);
  EXPECT_EQ(retired[0].last_error, "no route");
  EXPECT_EQ(store.backlog(10)->retired, 5u);
  EXPECT_EQ(store.backlog(10)->oldest, std::nullopt);

  database_.run("UPDATE acemq_outbox SET attempts = 0 WHERE id IN ('row-1', 'row-3')");
  EXPECT_THAT(claim_ids(store), ElementsAre("row-1", "row-3"));
  EXPECT_EQ(store.retired(10, 100).size(), 3u);
}

// Six relays on one row that always fails: its due time is in the table, so a minute sees as many attempts as with one.
TEST_F(SqliteStoreTest, B27_RelaysDoNotMultiplyAttempts) {
  database_.run(sqlite_schema());
  database_.add(make_record("1", clock_.now()));
  std::vector<SqliteStore> relays;
  for (int i = 0; i < 6; ++i) relays.push_back(open());
  int attempts = 0;
  for (int second = 0; second <= 60; ++second, clock_.advance(seconds(1))) {
    for (SqliteStore& relay : relays) {
      for (const Row& row : claim(relay)) {
        const outbox::RowFailure failure{.lease = {row.id, "a"}, .reason = "nack", .wait = seconds(10)};
        relay.fail({&failure, 1});
        ++attempts;
      }
    }
  }
  EXPECT_EQ(attempts, 7);
}

// Faults

// A writer that keeps the lock is an error that says "again later" and leaves the store usable.
TEST_F(SqliteStoreTest, B45_ALockedDatabaseIsATemporaryError) {
  database_.run("PRAGMA journal_mode = WAL;" + sqlite_schema());
  database_.add(make_record("1", clock_.now()));
  SqliteStore store(path_, {.busy_timeout = std::chrono::milliseconds(1), .clock = &clock_});
  database_.run("BEGIN IMMEDIATE");
  try {
    claim(store);
    FAIL() << "the lock was not respected";
  } catch (const StoreError& error) {
    EXPECT_TRUE(error.answers().try_again);
    EXPECT_TRUE(error.answers().connection_usable);
    EXPECT_EQ(error.code(), std::to_string(SQLITE_BUSY));
  }
  EXPECT_EQ(store.backlog(10)->pending, 1u) << "reading needs no lock";
  database_.run("COMMIT");
  EXPECT_THAT(claim_ids(store), ElementsAre("1"));
}

// An idle relay takes no write lock, so it neither waits for writers nor holds them up.
TEST_F(SqliteStoreTest, AnIdleClaimTakesNoWriteLock) {
  database_.run("PRAGMA journal_mode = WAL;" + sqlite_schema());
  SqliteStore store(path_, {.busy_timeout = std::chrono::milliseconds(1), .clock = &clock_});
  database_.run("BEGIN IMMEDIATE");
  EXPECT_THAT(claim_ids(store), IsEmpty());
}

// An error in the middle of a transaction undoes all of it: the marks of a step go with its claim.
TEST_F(SqliteStoreTest, AFailedStepLeavesNothingBehind) {
  database_.run(sqlite_schema());
  database_.add(make_record("1", clock_.now() - seconds(2)));
  database_.add(make_record("2", clock_.now() - seconds(1)));
  SqliteStore store = open();
  claim(store, "a", 1);
  database_.run(
      "CREATE TRIGGER broken BEFORE UPDATE OF locked_by ON acemq_outbox WHEN NEW.locked_by = 'b' "
      "BEGIN SELECT raise(ABORT, 'out of order'); END");
  const std::vector<std::string> published{"1"};
  EXPECT_THROW(store.mark_and_claim(published, {.token = "b"}), StoreError);
  EXPECT_EQ(database_.value("SELECT published_at FROM acemq_outbox WHERE id = '1'"), "NULL");

  database_.run("DROP TRIGGER broken");
  EXPECT_EQ(store.mark_and_claim(published, {.token = "b"}).size(), 1u);
  EXPECT_NE(database_.value("SELECT published_at FROM acemq_outbox WHERE id = '1'"), "NULL");
}

// Indexes may come and go under a running relay; without them it is slower, not wrong.
TEST_F(SqliteStoreTest, IndexesMayChangeWhileTheStoreIsOpen) {
  database_.run(rails_schema());
  for (int i = 0; i < 4; ++i) database_.add(make_record(std::to_string(i), clock_.now() + microseconds(i)));
  SqliteStore store = open();
  EXPECT_THAT(claim_ids(store, "a", 1), ElementsAre("0"));
  database_.run(sqlite_schema());
  EXPECT_THAT(claim_ids(store, "b", 1), ElementsAre("1"));
  database_.run("DROP INDEX acemq_outbox_relay; DROP INDEX acemq_outbox_waiting");
  try {
    EXPECT_THAT(claim_ids(store, "c", 1), ElementsAre("2"));
  } catch (const StoreError&) {
    EXPECT_THAT(claim_ids(store, "c", 1), ElementsAre("2")) << "one failed claim is all that a dropped index may cost";
  }
  EXPECT_THAT(claim_ids(store, "d", 1), ElementsAre("3"));
}

// A relay whose file is taken away says so at every call, and goes on with the file that comes in its place: a restored backup,
// say. With a write-ahead log SQLite itself notices nothing.
TEST_F(SqliteStoreTest, FollowsAReplacedFile) {
  for (const std::string mode : {"DELETE", "WAL"}) {
    const std::string path = folder_.file(mode + ".db");
    const auto make = [&](const std::string& id) {
      const Database database(path);
      database.run("PRAGMA journal_mode = " + mode + ";" + sqlite_schema());
      database.add(make_record(id, clock_.now()));
    };
    make("before");
    SqliteStore store(path, {.clock = &clock_});
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    EXPECT_THROW(store.claim({.token = "a"}), StoreError) << mode;
    EXPECT_THROW(store.backlog(10), StoreError) << mode;
    {
      const Database without_table(path);
      without_table.run("CREATE TABLE other (n)");
    }
    EXPECT_THROW(store.claim({.token = "a"}), StoreError) << mode;
    make("after");
    EXPECT_THAT(claim_ids(store), ElementsAre("after")) << mode;
    EXPECT_THAT(store.backlog(10)->leased, 1U);
  }
}

}  // namespace
}  // namespace acemq::test
