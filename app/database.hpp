// The database that --db names. Commands know no kind of database; a new kind is a case in database.cpp and a file like
// sqlite_database.cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "acemq/adapters/sqlite.hpp"
#include "acemq/outbox/record.hpp"
#include "acemq/outbox/store.hpp"

namespace acemq::app {

struct Database {
  std::string path;  // of a SQLite file
};

// sqlite:shop.db, sqlite:/var/lib/shop/shop.db. Throws CommandFailure.
Database parse_database(std::string_view url);
// For people: no secret in it.
std::string describe(const Database& database);

// The SQL that initialise() runs.
std::string schema(const Database& database, std::string_view table, bool wal);

struct Initialised {
  bool new_file = false;
  std::vector<std::string> made;  // "table acemq_outbox", "index …"; empty: everything was there
  std::string journal_mode;
};
// Makes what is missing of file, table and indexes; with `wal` switches to write-ahead logging.
Initialised initialise(const Database& database, const std::string& table, bool wal);

// In a transaction of its own.
outbox::Added add(const Database& database, const std::string& table, const outbox::Record& record);

std::unique_ptr<outbox::Store> open_store(const Database& database, const std::string& table);

}  // namespace acemq::app
