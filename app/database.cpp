#include "app/database.hpp"

#include "acemq/sqlite_store.hpp"
#include "app/failure.hpp"
#include "app/secrets.hpp"
#include "app/sqlite_database.hpp"

namespace acemq::app {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

[[noreturn]] void refuse(const std::string& words, std::string_view url) {
  throw CommandFailure(kUsage, "--db (ACEMQ_DB) " + words + "; given: " + shown(url), "as in sqlite:shop.db");
}

}  // namespace

Database parse_database(std::string_view url) {
  if (!url.starts_with(kSqlite)) refuse("must begin with sqlite:", url);
  std::string_view path = url.substr(kSqlite.size());
  if (path.starts_with("//")) {  // sqlite:///an/absolute/path
    path.remove_prefix(2);
    if (!path.starts_with('/')) refuse("must have no host: sqlite:relative/path or sqlite:///absolute/path", url);
  }
  if (path.empty() || path.starts_with(':')) refuse("must name a file", url);
  return {.path = std::string(path)};
}

std::string describe(const Database& database) { return std::string(kSqlite) + database.path; }

std::string schema(const Database& /*database*/, std::string_view table, bool wal) { return sqlite::schema(table, wal); }

Initialised initialise(const Database& database, const std::string& table, bool wal) {
  return sqlite::initialise(database.path, table, wal);
}

outbox::Added add(const Database& database, const std::string& table, const outbox::Record& record) {
  return sqlite::add(database.path, table, record);
}

std::unique_ptr<outbox::Store> open_store(const Database& database, const std::string& table) {
  return std::make_unique<SqliteStore>(database.path, SqliteStoreOptions{.table = table});
}

}  // namespace acemq::app
