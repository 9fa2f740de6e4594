// The door for a raw sqlite3*: inline, compiled against the application's own sqlite3.h and run by its own copy of SQLite.
//
//   sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
//   place_order(db, order);
//   acemq::outbox::add(db, acemq::outbox::record(shop, order_json, {.to = "order.placed", .exchange = "shop-events"}));
//   sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
//
// Begin with BEGIN IMMEDIATE: a transaction that starts by reading and writes later is refused the write lock at once, whatever
// the busy timeout, when another connection has written in between.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "acemq/error.hpp"
#include "acemq/outbox/insert.hpp"

namespace acemq::outbox {

struct AddOptions {
  std::string_view table = kDefaultTable;
  TimeFormat time_format = TimeFormat::automatic;
  // For scripts: lets the row commit by itself. In a service this is the bug that the outbox exists to remove.
  bool allow_autocommit = false;
};

enum class Added {
  inserted,
  already_there,  // the same id with the same content: one message will be sent
};

namespace sqlite_door {

inline ErrorAnswers answers(int extended_code, bool rolled_back) {
  ErrorAnswers answers{.connection_usable = !rolled_back};
  switch (extended_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
      answers.try_again = true;
      break;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
      answers.record_at_fault = true;
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      answers.connection_usable = false;
      break;
    default:
      break;
  }
  // What this transaction has read is out of date, so it can never write again.
  if (extended_code == SQLITE_BUSY_SNAPSHOT) answers.connection_usable = false;
  return answers;
}

// The error that `db` has just reported. `was_autocommit` tells whether a transaction was open before: SQLite ends one by itself
// after some errors.
[[noreturn]] inline void fail(sqlite3* db, bool was_autocommit) {
  const int code = sqlite3_extended_errcode(db);
  const bool rolled_back = !was_autocommit && sqlite3_get_autocommit(db) != 0;
  std::string what = std::string("SQLite could not add to the outbox: ") + sqlite3_errmsg(db) + " (code " + std::to_string(code) +
                     ", " + sqlite3_errstr(code) + ")";
  if ((code & 0xff) == SQLITE_BUSY) {
    what += "; roll back and run the transaction again; BEGIN IMMEDIATE makes it wait for its turn at the start instead";
  }
  if (rolled_back) what += "; SQLite has rolled the transaction back";
  throw StoreError(what, std::to_string(code), answers(code, rolled_back));
}

// One prepared statement, finalised on every path.
class Query {
 public:
  Query(sqlite3* db, const Statement& statement) : db_(db), autocommit_(sqlite3_get_autocommit(db) != 0) {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(db, statement.sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail(db_, autocommit_);
    statement_.reset(prepared);
    int index = 0;
    for (const std::string& text : statement.parameters) bind(++index, text);
  }

  // Whether there is a row.
  bool step() {
    const int result = sqlite3_step(statement_.get());
    if (result != SQLITE_ROW && result != SQLITE_DONE) fail(db_, autocommit_);
    return result == SQLITE_ROW;
  }

  // In UTF-8 whatever the database's encoding; asked for before its length.
  std::string text() const {
    const void* bytes = sqlite3_column_text(statement_.get(), 0);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), 0));
    return std::string(static_cast<const char*>(bytes), size);
  }

 private:
  struct Finalize {
    // Its result repeats what the last step has already reported.
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  // The text is not copied: the parameters outlive the query.
  void bind(int index, const std::string& text) {
    constexpr sqlite3_destructor_type kStatic = nullptr;
    if (sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(), kStatic, SQLITE_UTF8) != SQLITE_OK) {
      fail(db_, autocommit_);
    }
  }

  sqlite3* db_;
  bool autocommit_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

inline void check_transaction(sqlite3* db, const AddOptions& options) {
  if (db == nullptr) throw InvalidConfiguration("db", "must be an open database, not NULL", "");
  if (options.allow_autocommit || sqlite3_get_autocommit(db) == 0) return;
  throw NotInTransaction(
      "no transaction is open on this database: the message would be committed by itself, and be sent although the work it "
      "tells of may fail, or be lost although the work succeeds. Run BEGIN IMMEDIATE first, do the work, add, then COMMIT. A "
      "script that has no other work may set allow_autocommit");
}

// Costs nothing, unlike a look from within a statement. Of a table that is not there the insert will tell.
inline TimeFormat declared_format(sqlite3* db, const std::string& table) {
  const char* type = nullptr;
  const int found =
      sqlite3_table_column_metadata(db, nullptr, table.c_str(), "created_at", &type, nullptr, nullptr, nullptr, nullptr);
  if (found != SQLITE_OK || type == nullptr) return TimeFormat::iso;
  return sqlite3_strlike("%datetime%", type, 0) == 0 ? TimeFormat::rails : TimeFormat::iso;
}

}  // namespace sqlite_door

// Inserts the record within the transaction that is open on `db`; never begins, commits or rolls back. The connection is used
// by this thread only, for the length of the call.
//
// The same id with the same content changes nothing; with other content it throws IdConflict, and the transaction stays usable.
// Throws NotInTransaction when none is open, InvalidRecord and InvalidConfiguration as insert_statement() does, and StoreError
// with SQLite's extended code for whatever SQLite reports, or without one when a trigger has swallowed the row.
inline Added add(sqlite3* db, const Record& record, const AddOptions& options = {}) {
  sqlite_door::check_transaction(db, options);
  const InsertOptions insert{.table = options.table,
                             .time_format = options.time_format,
                             .declared_format = sqlite_door::declared_format(db, std::string(options.table))};
  const Statement statement = insert_statement(record, insert);
  sqlite_door::Query(db, statement).step();
  if (sqlite3_changes(db) != 0) return Added::inserted;

  const Statement check = conflict_statement(record, insert);
  sqlite_door::Query conflict(db, check);
  if (!conflict.step()) return Added::already_there;
  const std::string field = conflict.text();
  if (field == "id") {
    throw StoreError("the insert was accepted and nothing was stored: does a trigger on the outbox table ignore it?", "", {});
  }
  throw IdConflict(record.id, field);
}

}  // namespace acemq::outbox
