#include "app/sqlite_database.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fcntl.h>

#include "acemq/sqlite_store.hpp"
#include "app/failure.hpp"
#include "base/descriptor.hpp"
#include "store/sqlite/sqlite_handle.hpp"

namespace acemq::app::sqlite {
namespace {

using acemq::sqlite::Connection;
using acemq::sqlite::Statement;
using acemq::sqlite::Transaction;

constexpr std::chrono::seconds kBusyTimeout{5};
constexpr const char* kSwitchToWal = "PRAGMA journal_mode = WAL";

// Whether it was not there.
bool make_file(const std::string& path) {
  const base::Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0640));
  if (file) return true;
  if (errno == EEXIST) return false;
  throw CommandFailure(kFailed, "cannot make " + path + ": " + std::strerror(errno));
}

// The table and its indexes in the order in which they were made, as "table acemq_outbox".
std::vector<std::string> objects_of(const Connection& connection, const std::string& table) {
  const Statement statement(connection,
                            "SELECT type || ' ' || name FROM sqlite_schema "
                            "WHERE tbl_name = ?1 COLLATE NOCASE AND sql IS NOT NULL ORDER BY rowid",
                            "looking for the table");
  std::vector<std::string> objects;
  for (Statement::Run run(statement, table); run.step();) objects.emplace_back(run.text(0));
  return objects;
}

std::string journal_mode(const Connection& connection, const char* sql) {
  const Statement statement(connection, sql, "asking for the journal mode");
  Statement::Run run(statement);
  return run.step() ? std::string(run.text(0)) : std::string();
}

}  // namespace

std::string schema(std::string_view table, bool wal) {
  return (wal ? std::string(kSwitchToWal) + ";\n" : std::string()) + sqlite_schema(table);
}

Initialised initialise(const std::string& path, const std::string& table, bool wal) {
  const std::string statements = sqlite_schema(table);  // refuses a bad name before anything is made
  Initialised result{.new_file = make_file(path), .made = {}, .journal_mode = {}};
  Connection connection(path, kBusyTimeout);
  result.journal_mode = journal_mode(connection, wal ? kSwitchToWal : "PRAGMA journal_mode");
  if (wal && result.journal_mode != "wal") {
    throw CommandFailure(kFailed, "SQLite keeps the journal mode " + result.journal_mode + " for " + path,
                         "write-ahead logging needs a local file system");
  }

  const std::vector<std::string> before = objects_of(connection, table);
  if (!before.empty()) SqliteStore{path, {.table = table}};  // refuses a table of another shape
  Transaction transaction(connection);
  connection.execute(statements.c_str(), "making the table");
  transaction.commit();
  for (const std::string& object : objects_of(connection, table)) {
    if (std::find(before.begin(), before.end(), object) == before.end()) result.made.push_back(object);
  }
  return result;
}

outbox::Added add(const std::string& path, const std::string& table, const outbox::Record& record) {
  Connection connection(path, kBusyTimeout);
  Transaction transaction(connection);
  const outbox::Added added = outbox::add(connection.handle(), record, {.table = table});
  transaction.commit();
  return added;
}

}  // namespace acemq::app::sqlite
