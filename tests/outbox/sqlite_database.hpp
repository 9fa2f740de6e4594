// A SQLite database for one test, in memory unless a path is given.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace acemq::test {

// As the libraries make it (CONTRACT 1.3).
inline constexpr const char* kLibraryTable = R"sql(
CREATE TABLE acemq_outbox (
  id VARCHAR(64) NOT NULL PRIMARY KEY, exchange_name VARCHAR(255) NOT NULL, routing_key VARCHAR(255) NOT NULL, body TEXT NOT NULL,
  body_encoding VARCHAR(16) NOT NULL, content_type VARCHAR(255) NOT NULL, headers TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL, published_at TIMESTAMP WITH TIME ZONE, attempts INTEGER NOT NULL DEFAULT 0,
  last_error VARCHAR(1000), locked_by VARCHAR(64), locked_until TIMESTAMP WITH TIME ZONE);
CREATE INDEX acemq_outbox_pending ON acemq_outbox (published_at, created_at))sql";

// As the Rails migration makes it.
inline constexpr const char* kRailsTable = R"sql(
CREATE TABLE "acemq_outbox" (
  "id" varchar(64) NOT NULL PRIMARY KEY, "exchange_name" varchar(255) NOT NULL, "routing_key" varchar(255) NOT NULL,
  "body" text NOT NULL, "body_encoding" varchar(16) NOT NULL, "content_type" varchar(255) NOT NULL, "headers" text NOT NULL,
  "created_at" datetime(6) NOT NULL, "published_at" datetime(6), "attempts" integer DEFAULT 0 NOT NULL,
  "last_error" varchar(1000), "locked_by" varchar(64), "locked_until" datetime(6));
CREATE INDEX "acemq_outbox_pending" ON "acemq_outbox" ("published_at", "created_at"))sql";

class Database {
 public:
  explicit Database(const std::string& path = ":memory:") {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
  }
  ~Database() { sqlite3_close_v2(db_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() { return db_; }

  void run(const std::string& sql) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
  }

  using Cell = std::optional<std::string>;
  // All rows of one statement; parameters are bound as text, as a client of the statement door does.
  std::vector<std::vector<Cell>> rows(const std::string& sql, const std::vector<std::string>& parameters = {}) {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, &rest) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
    if (*rest != '\0') throw std::runtime_error("more than one statement");
    if (sqlite3_bind_parameter_count(statement) != static_cast<int>(parameters.size())) throw std::runtime_error("wrong count");
    int index = 0;
    for (const auto& text : parameters)
      sqlite3_bind_text(statement, ++index, text.data(), static_cast<int>(text.size()), nullptr);
    std::vector<std::vector<Cell>> all;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      auto& row = all.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(cell(statement, i));
    }
    if (sqlite3_finalize(statement) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db_));
    return all;
  }

  // The first column of the first row.
  Cell one(const std::string& sql, const std::vector<std::string>& parameters = {}) {
    const auto all = rows(sql, parameters);
    return all.empty() ? std::nullopt : all[0][0];
  }

 private:
  static Cell cell(sqlite3_stmt* statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) return std::nullopt;
    const void* bytes = sqlite3_column_blob(statement, column);
    return std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
  }

  sqlite3* db_ = nullptr;
};

}  // namespace acemq::test
