#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "acemq/adapters/sqlite.hpp"
#include "outbox/sqlite_database.hpp"

namespace {

using namespace acemq;
using namespace acemq::outbox;
using acemq::test::Database;

class SqliteDoor : public ::testing::TestWithParam<const char*> {
 protected:
  SqliteDoor() { db_.run(GetParam()); }
  Record order(const std::string& id, const std::string& body = "{}") const {
    return record(shop_, body, {.to = "order.placed", .exchange = "shop-events", .id = id});
  }
  std::string rows() { return *db_.one("SELECT count(*) FROM acemq_outbox"); }

  const MessageFactory shop_;
  Database db_;
};
INSTANTIATE_TEST_SUITE_P(Tables, SqliteDoor, ::testing::Values(test::kLibraryTable, test::kRailsTable),
                         [](const auto& table) { return table.index == 0 ? "Library" : "Rails"; });

// A committed transaction's record is there, a rolled-back one's is not; add() ends neither.
TEST_P(SqliteDoor, SharesTheFateOfTheTransaction) {
  db_.run("BEGIN");
  EXPECT_EQ(add(db_.handle(), order("1")), Added::inserted);
  EXPECT_EQ(sqlite3_get_autocommit(db_.handle()), 0);
  db_.run("ROLLBACK");
  EXPECT_EQ(rows(), "0");
  db_.run("BEGIN");
  add(db_.handle(), order("2"));
  db_.run("COMMIT");
  EXPECT_EQ(db_.one("SELECT id FROM acemq_outbox"), "2");
}

// A savepoint is a transaction too, and undoing it undoes the record.
TEST_P(SqliteDoor, WorksInsideASavepoint) {
  db_.run("SAVEPOINT work");
  add(db_.handle(), order("1"));
  db_.run("ROLLBACK TO work; RELEASE work");
  EXPECT_EQ(rows(), "0");
}

// Without a transaction the very fault that an outbox removes would return: refused, with the way out; a script may insist.
TEST_P(SqliteDoor, RefusesAutocommit) {
  try {
    add(db_.handle(), order("1"));
    FAIL() << "accepted";
  } catch (const NotInTransaction& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find("BEGIN IMMEDIATE"), std::string::npos);
    EXPECT_NE(what.find("allow_autocommit"), std::string::npos);
  }
  EXPECT_EQ(rows(), "0");
  EXPECT_EQ(add(db_.handle(), order("1"), {.allow_autocommit = true}), Added::inserted);
  EXPECT_EQ(rows(), "1");
}

// NULL is refused before SQLite sees it.
TEST_P(SqliteDoor, RefusesNull) { EXPECT_THROW(add(nullptr, order("1")), InvalidConfiguration); }

// The same message twice is one row and no error; another message under its id is an error that names the field, and the
// transaction goes on.
TEST_P(SqliteDoor, DuplicateIsHarmlessAndConflictIsNot) {
  db_.run("BEGIN");
  EXPECT_EQ(add(db_.handle(), order("1")), Added::inserted);
  EXPECT_EQ(add(db_.handle(), order("1")), Added::already_there);
  try {
    add(db_.handle(), order("1", "[]"));
    FAIL() << "accepted";
  } catch (const IdConflict& error) {
    EXPECT_NE(std::string(error.what()).find("differs in body"), std::string::npos);
  }
  EXPECT_EQ(add(db_.handle(), order("2")), Added::inserted);
  db_.run("COMMIT");
  EXPECT_EQ(rows(), "2");
}

// A database may keep its text in UTF-16; the answers are the same.
TEST(SqliteDoorEncoding, Utf16MakesNoDifference) {
  const MessageFactory shop;
  Database db;
  db.run("PRAGMA encoding = 'UTF-16'");
  db.run(test::kRailsTable);
  db.run("BEGIN");
  const RecordOptions options{.to = "Z\xc3\xbcrich", .id = "1", .headers = {{"\xf0\x9f\x9a\x80", "\xc3\xa9"}}};
  EXPECT_EQ(add(db.handle(), record(shop, "{}", options)), Added::inserted);
  EXPECT_EQ(add(db.handle(), record(shop, "{}", options)), Added::already_there);
  try {
    add(db.handle(), record(shop, "[]", options));
    FAIL() << "accepted";
  } catch (const IdConflict& error) {
    EXPECT_NE(std::string(error.what()).find("differs in body"), std::string::npos);
  }
}

// A conflict is seen after an earlier statement of the caller has changed rows: the count of changes is that of the insert.
TEST_P(SqliteDoor, DuplicateIsSeenBehindOtherWork) {
  db_.run("CREATE TABLE work (n); BEGIN");
  add(db_.handle(), order("1"));
  db_.run("INSERT INTO work VALUES (1), (2)");
  EXPECT_EQ(add(db_.handle(), order("1")), Added::already_there);
  db_.run("COMMIT");
}

// Ten equal messages in one transaction are ten rows, in the order of their making.
TEST_P(SqliteDoor, B16_IdenticalMessagesAreAllKept) {
  db_.run("BEGIN");
  for (int i = 0; i < 10; ++i) add(db_.handle(), record(shop_, "{}", {.to = "k", .exchange = "e"}));
  db_.run("COMMIT");
  EXPECT_EQ(db_.one("SELECT count(DISTINCT id) || ' ' || count(DISTINCT created_at) FROM acemq_outbox"), "10 10");
  EXPECT_EQ(db_.rows("SELECT id FROM acemq_outbox ORDER BY created_at, id"),
            db_.rows("SELECT id FROM acemq_outbox ORDER BY rowid"));
}

// Only a duplicate of the primary key is a duplicate; any other constraint surfaces, as the record's fault.
TEST_P(SqliteDoor, OtherConstraintsSurface) {
  db_.run("CREATE UNIQUE INDEX own ON acemq_outbox (routing_key); BEGIN");
  add(db_.handle(), order("1"));
  try {
    add(db_.handle(), order("2"));
    FAIL() << "accepted";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), std::to_string(SQLITE_CONSTRAINT_UNIQUE));
    EXPECT_TRUE(error.answers().record_at_fault);
    EXPECT_TRUE(error.answers().connection_usable);
    EXPECT_FALSE(error.answers().try_again);
  }
  db_.run("COMMIT");
  EXPECT_EQ(rows(), "1");
}

// An insert that a trigger swallows stores nothing and raises nothing: that is no duplicate but a lost message, so it is an
// error.
TEST_P(SqliteDoor, SwallowedInsertSurfaces) {
  db_.run("CREATE TRIGGER quiet BEFORE INSERT ON acemq_outbox WHEN new.id = '1' BEGIN SELECT raise(IGNORE); END; BEGIN");
  EXPECT_THROW(add(db_.handle(), order("1")), StoreError);
  EXPECT_EQ(add(db_.handle(), order("2")), Added::inserted);
  db_.run("COMMIT");
  EXPECT_EQ(rows(), "1");
}

// A missing table is said in SQLite's words, and the transaction can go on.
TEST_P(SqliteDoor, MissingTableSurfaces) {
  db_.run("BEGIN");
  try {
    add(db_.handle(), order("1"), {.table = "no_such"});
    FAIL() << "accepted";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("no such table: no_such"), std::string::npos);
    EXPECT_TRUE(error.answers().connection_usable);
    EXPECT_FALSE(error.answers().try_again);
  }
  EXPECT_EQ(add(db_.handle(), order("1")), Added::inserted);
  db_.run("COMMIT");
}

// A full database makes SQLite end the transaction by itself; the error says so, since the caller's work is gone too.
TEST_P(SqliteDoor, SaysWhenSqliteRolledBack) {
  db_.run("PRAGMA max_page_count = 8; BEGIN");
  try {
    add(db_.handle(), order("1", '"' + std::string(100'000, 'x') + '"'));
    FAIL() << "accepted";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.code(), std::to_string(SQLITE_FULL));
    EXPECT_NE(std::string(error.what()).find("rolled the transaction back"), std::string::npos);
    EXPECT_FALSE(error.answers().connection_usable);
    EXPECT_TRUE(error.answers().try_again);
  }
}

// No statement outlives the call, whether it succeeds or throws: a connection with one left over cannot be closed.
TEST_P(SqliteDoor, LeavesNoStatementBehind) {
  db_.run("BEGIN");
  add(db_.handle(), order("1"));
  EXPECT_THROW(add(db_.handle(), order("1", "[]")), IdConflict);
  EXPECT_THROW(add(db_.handle(), order("2"), {.table = "no_such"}), StoreError);
  EXPECT_EQ(sqlite3_next_stmt(db_.handle(), nullptr), nullptr);
}

// Two connections to one file.
class SqliteDoorBusy : public ::testing::Test {
 protected:
  SqliteDoorBusy() : folder_(make_folder()), mine_(folder_ / "shop.db"), theirs_(folder_ / "shop.db") {
    mine_.run("PRAGMA journal_mode = WAL");
    mine_.run(test::kLibraryTable);
    sqlite3_busy_timeout(mine_.handle(), 600'000);  // so long that an error can only have come without waiting
  }
  ~SqliteDoorBusy() override { std::filesystem::remove_all(folder_); }

  static std::filesystem::path make_folder() {
    std::string name = ::testing::TempDir() + "acemq-door-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    return name;
  }
  StoreError refusal() {
    try {
      add(mine_.handle(), record(shop_, "{}", {.to = "k", .id = "mine"}));
    } catch (const StoreError& error) {
      return error;
    }
    throw std::runtime_error("accepted");
  }

  const std::filesystem::path folder_;
  const MessageFactory shop_;
  Database mine_, theirs_;
};

// A transaction that has read before another one wrote is refused the write lock at once, whatever the busy timeout. The error
// explains it, and the whole transaction can be run again.
TEST_F(SqliteDoorBusy, B45_ReadThenWriteIsExplained) {
  mine_.run("BEGIN");
  mine_.one("SELECT count(*) FROM acemq_outbox");
  theirs_.run("BEGIN IMMEDIATE");
  add(theirs_.handle(), record(shop_, "{}", {.to = "k", .id = "theirs"}));
  theirs_.run("COMMIT");
  const StoreError error = refusal();
  EXPECT_EQ(error.code(), std::to_string(SQLITE_BUSY_SNAPSHOT));
  EXPECT_NE(std::string(error.what()).find("BEGIN IMMEDIATE"), std::string::npos);
  EXPECT_TRUE(error.answers().try_again);
  EXPECT_FALSE(error.answers().connection_usable) << "this transaction can never write";
  EXPECT_FALSE(error.answers().record_at_fault);
  mine_.run("ROLLBACK; BEGIN IMMEDIATE");
  EXPECT_EQ(add(mine_.handle(), record(shop_, "{}", {.to = "k", .id = "mine"})), Added::inserted);
  mine_.run("COMMIT");
}

// Another writer that holds the lock: the same call may succeed later, within the same transaction.
TEST_F(SqliteDoorBusy, LockedByAnotherWriterMayBeTriedAgain) {
  sqlite3_busy_timeout(mine_.handle(), 0);
  theirs_.run("BEGIN IMMEDIATE");
  mine_.run("BEGIN");
  const StoreError error = refusal();
  EXPECT_EQ(error.code(), std::to_string(SQLITE_BUSY));
  EXPECT_TRUE(error.answers().try_again);
  EXPECT_TRUE(error.answers().connection_usable);
  theirs_.run("COMMIT");
  EXPECT_EQ(add(mine_.handle(), record(shop_, "{}", {.to = "k", .id = "mine"})), Added::inserted);
  mine_.run("COMMIT");
}

}  // namespace
