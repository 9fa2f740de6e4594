// Several connections on one SQLite file: relays among themselves, and relays among the application's writers. Every thread
// has a connection and a store of its own, as a process would.
#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "acemq/testing/manual_clock.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using outbox::Row;
using std::chrono::microseconds;
using testing::ManualClock;

class SqliteConcurrencyTest : public ::testing::Test {
 protected:
  void SetUp() override { database_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + sqlite_schema()); }

  SqliteStore open() const { return SqliteStore(path_, {.busy_timeout = std::chrono::seconds(60), .clock = &clock_}); }
  outbox::Record record(const std::string& id, int order) const { return make_record(id, clock_.now() + microseconds(order)); }

  // row-0, row-1, …, each a microsecond younger than the one before.
  void fill(int rows) const {
    database_.run("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < " + std::to_string(rows) +
                  ") INSERT INTO acemq_outbox SELECT 'row-' || i, 'shop-events', 'order.placed', hex(zeroblob(100)), 'utf-8', "
                  "'application/json', '{}', printf('2026-01-02T03:04:05.%06dZ', i), NULL, 0, NULL, NULL, NULL FROM n");
  }
  static std::vector<std::string> ids_of(const std::vector<Row>& rows) {
    std::vector<std::string> ids;
    for (const Row& row : rows) ids.push_back(row.id);
    return ids;
  }
  std::uintmax_t wal_bytes() const { return std::filesystem::file_size(path_ + "-wal"); }

  // Runs each in a thread; what one throws fails the test.
  static void run_all(const std::vector<std::function<void()>>& bodies) {
    std::vector<std::thread> threads;
    for (const auto& body : bodies) threads.emplace_back([&body] { EXPECT_NO_THROW(body()); });
    for (std::thread& thread : threads) thread.join();
  }

  ManualClock clock_;  // stands still: no lease ends by itself
  TempFolder folder_;
  std::string path_ = folder_.file("shop.db");
  Database database_{path_};
};

// 20 000 rows and four relays: each row is claimed once, and each relay gets a share.
TEST_F(SqliteConcurrencyTest, B09_FourRelaysClaimEachRowOnce) {
  constexpr int kRows = 20'000;
  fill(kRows);
  std::barrier everybody_has_claimed(4);
  std::mutex mutex;
  std::vector<std::string> claimed;
  const auto relay = [&](int number) {
    SqliteStore store = open();
    std::vector<std::string> mine;
    int batch = 0;
    const auto claim = [&] {
      return outbox::Claim{.token = std::to_string(number) + "-" + std::to_string(++batch), .rows_max = 100};
    };
    std::vector<Row> rows = store.claim(claim());
    EXPECT_FALSE(rows.empty());
    everybody_has_claimed.arrive_and_wait();
    while (!rows.empty()) {
      const std::vector<std::string> ids = ids_of(rows);
      mine.insert(mine.end(), ids.begin(), ids.end());
      rows = store.mark_and_claim(ids, claim());
    }
    const std::lock_guard lock(mutex);
    claimed.insert(claimed.end(), mine.begin(), mine.end());
  };
  run_all({[&] { relay(1); }, [&] { relay(2); }, [&] { relay(3); }, [&] { relay(4); }});
  EXPECT_EQ(claimed.size(), std::size_t{kRows});
  EXPECT_EQ(std::set<std::string>(claimed.begin(), claimed.end()).size(), std::size_t{kRows});
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NULL"), "0");
}

// Two relays and four writers at full speed: nobody sees "database is locked", and every row goes out once.
TEST_F(SqliteConcurrencyTest, B45_NoBusyErrorEscapesUnderContention) {
  constexpr int kWriters = 4;
  constexpr int kRowsEach = 100;
  constexpr int kRoundsMax = 1'000'000;
  std::atomic<int> marked{0};
  const auto write = [&](int writer) {
    const Database own(path_);
    own.run("PRAGMA busy_timeout = 60000; PRAGMA synchronous = OFF");
    for (int i = 0; i < kRowsEach; ++i) {
      own.run("BEGIN IMMEDIATE");
      own.add(record(std::to_string(writer) + "-" + std::to_string(i), i));
      own.run("COMMIT");
    }
  };
  const auto relay = [&](const std::string& name) {
    SqliteStore store = open();
    for (int round = 0; round < kRoundsMax && marked < kWriters * kRowsEach; ++round) {
      const auto ids = ids_of(store.claim({.token = name + std::to_string(round), .rows_max = 20}));
      store.mark_published(ids);
      marked += static_cast<int>(ids.size());
    }
  };
  run_all({[&] { write(1); }, [&] { write(2); }, [&] { write(3); }, [&] { write(4); }, [&] { relay("a"); }, [&] { relay("b"); }});
  EXPECT_EQ(marked, kWriters * kRowsEach);
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"),
            std::to_string(kWriters * kRowsEach));
}

// After any call a checkpoint can empty the log: no statement is left in the middle, holding a snapshot.
TEST_F(SqliteConcurrencyTest, B46_NoCallLeavesASnapshotOpen) {
  fill(20);
  SqliteStore store = open();
  const auto expect_free = [&](const char* call) {
    EXPECT_EQ(database_.value("PRAGMA wal_checkpoint(TRUNCATE)"), "0") << "the log is busy after " << call;
  };
  const std::vector<Row> rows = store.claim({.token = "a", .rows_max = 10, .bytes_max = 1'000});
  ASSERT_LT(rows.size(), 10u) << "the byte budget ended this claim in the middle of its rows";
  expect_free("a claim");
  store.mark_published(std::vector<std::string>{"row-0"});
  expect_free("a mark");
  database_.run("UPDATE acemq_outbox SET attempts = 10 WHERE rowid > 10");
  store.retired(10, 2);
  expect_free("a list");
  store.backlog(10);
  expect_free("a count");
  store.claim({.token = "b", .attempts_max = 0});
  expect_free("an idle claim");
  store.purge_published(clock_.now() + std::chrono::hours(1), 1);
  expect_free("a purge");
}

// An application commits 48 MiB beside an idle relay: the log stays near the automatic checkpoint's bound of 4 MiB. A foreign
// reader makes it grow; once that is gone it can be emptied.
TEST_F(SqliteConcurrencyTest, B46_TheLogStaysBoundedBesideAnIdleRelay) {
  database_.run("CREATE TABLE work (data BLOB)");
  SqliteStore store = open();
  const auto commit = [&] {
    database_.run("INSERT INTO work VALUES (zeroblob(32768)); DELETE FROM work WHERE rowid < (SELECT max(rowid) FROM work)");
    EXPECT_TRUE(store.claim({.token = "a"}).empty());
  };
  for (int i = 0; i < 1500; ++i) commit();
  EXPECT_LT(wal_bytes(), 8u << 20);

  const Database reader(path_);
  reader.run("BEGIN; SELECT count(*) FROM work");
  for (int i = 0; i < 300; ++i) commit();
  EXPECT_GT(wal_bytes(), 8u << 20);
  reader.run("COMMIT");
  EXPECT_EQ(database_.value("PRAGMA wal_checkpoint(TRUNCATE)"), "0");
  EXPECT_EQ(wal_bytes(), 0u);
}

// History is purged in chunks while an application adds and a relay works; pending and retired rows stay.
TEST_F(SqliteConcurrencyTest, B48_PurgingGoesOnBesideTheTraffic) {
  constexpr int kHistory = 5'000;
  constexpr std::size_t kChunk = 250;
  fill(kHistory);
  database_.run("UPDATE acemq_outbox SET published_at = '2026-01-01T00:00:00.000000Z'");
  database_.run("UPDATE acemq_outbox SET published_at = NULL, attempts = 10 WHERE rowid % 1000 = 0");
  const auto relay = [&] {
    SqliteStore store = open();
    const Database own(path_);
    for (int i = 0; i < 100; ++i) {
      own.add(record("new-" + std::to_string(i), i));
      store.mark_published(ids_of(store.claim({.token = std::to_string(i)})));
    }
    own.add(record("pending", 0));
  };
  const auto purge = [&] {
    SqliteStore store = open();
    std::size_t total = 0;
    for (std::size_t last = kChunk; last == kChunk; total += last) {
      last = store.purge_published(clock_.now() - std::chrono::hours(1), kChunk);
      EXPECT_LE(last, kChunk);
    }
    EXPECT_EQ(total, std::size_t{kHistory - 5});
  };
  run_all({relay, purge});
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE attempts = 10"), "5");
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NULL AND attempts = 0"), "1");
  EXPECT_EQ(database_.value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"), "100");
}

}  // namespace
}  // namespace acemq::test
