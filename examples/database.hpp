// What the examples need of SQLite: a handle that closes itself, and a transaction that rolls back unless it was committed.
// What goes wrong is an exception. An application has its own of both; every door of acemq takes the plain sqlite3*.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

class Database {
 public:
  explicit Database(const std::string& path) {
    sqlite3* handle = nullptr;
    const int result = sqlite3_open(path.c_str(), &handle);
    handle_.reset(handle);  // a failed open leaves a handle to close, too
    check(result);
    // The application and its relay write to the same file: wait for one another instead of failing.
    sqlite3_busy_timeout(handle, 5000);
  }

  sqlite3* get() const { return handle_.get(); }

  void run(const std::string& sql) { check(sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr)); }

  // The first column of the first row.
  std::string text(const std::string& sql) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(get(), sql.c_str(), -1, &prepared, nullptr));
    const std::unique_ptr<sqlite3_stmt, Finalize> statement(prepared);
    if (sqlite3_step(prepared) != SQLITE_ROW) throw std::runtime_error("SQLite: no row for: " + sql);
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(prepared, 0));
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(prepared, 0))};
  }

  std::int64_t number(const std::string& sql) { return std::stoll(text(sql)); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  void check(int result) const {
    if (result != SQLITE_OK) throw std::runtime_error(std::string("SQLite: ") + sqlite3_errmsg(get()));
  }

  std::unique_ptr<sqlite3, Close> handle_;
};

class Transaction {
 public:
  // IMMEDIATE takes the write lock now. One that begins by reading is refused it later when somebody has written in between.
  explicit Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    // A rollback that fails leaves the transaction to sqlite3_close(), which rolls it back.
    if (!committed_) sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }

  void commit() {
    database_.run("COMMIT");
    committed_ = true;
  }

 private:
  Database& database_;
  bool committed_ = false;
};
