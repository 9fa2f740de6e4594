// The statement door: SQL and parameters that insert a record through any database client.
//
//   auto insert = acemq::outbox::insert_statement(record, {.dialect = Dialect::sqlite});
//   my_client.execute(insert.sql, insert.parameters);     // inside your transaction
//
// One statement, no RETURNING, text parameters only. A second insert of the same id does nothing and raises nothing, so the
// transaction stays usable (CONTRACT 3). When it reports no row inserted and the id was yours to choose, run
// conflict_statement() to learn whether the stored record says the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "acemq/outbox/record.hpp"

namespace acemq::outbox {

inline constexpr std::string_view kDefaultTable = "acemq_outbox";

enum class Dialect { sqlite };

// How the client marks parameters.
enum class Placeholders {
  question,  // ?
  dollar,    // $1, $2, …
  colon,     // :p1, :p2, …
};

// SQLite has no type for time; its tables hold one of two texts, and one table should hold one (CONTRACT 2.3).
enum class TimeFormat {
  automatic,  // as the table's rows do, else as its declared type says; decided by the statement itself
  iso,        // 2026-01-02T03:04:05.678901Z, the libraries'
  rails,      // 2026-01-02 03:04:05.678901, ActiveRecord's
};

struct InsertOptions {
  Dialect dialect = Dialect::sqlite;
  Placeholders placeholders = Placeholders::question;
  std::string_view table = kDefaultTable;  // [A-Za-z_][A-Za-z0-9_]{0,62}
  TimeFormat time_format = TimeFormat::automatic;
  // What created_at is declared for, if you know: rails for datetime, iso for any other type. An automatic time_format then need
  // not look it up in the statement, which is prepared in half the time.
  TimeFormat declared_format = TimeFormat::automatic;
};

struct Statement {
  std::string sql;
  std::vector<std::string> parameters;  // UTF-8 text without NUL, in the order of the placeholders; bind each as text
};

// Throws InvalidRecord (check(record)) and InvalidConfiguration (the table's name). Thread-safe.
Statement insert_statement(const Record& record, const InsertOptions& options = {});

// Selects one row with one text column: the first of exchange, routing key, type, version, content type, body and application
// headers (trace context left out) in which the stored record of this id differs, named as in Record and RecordOptions; "id" when
// no record of this id is stored: a trigger has swallowed the insert. No row: they are the same. Throws as insert_statement().
Statement conflict_statement(const Record& record, const InsertOptions& options = {});

}  // namespace acemq::outbox
