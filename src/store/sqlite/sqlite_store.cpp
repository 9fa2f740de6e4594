#include "acemq/sqlite_store.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include <sqlite3.h>

#include "base/timestamp.hpp"
#include "outbox/row_rules.hpp"
#include "store/sqlite/sqlite_handle.hpp"
#include "store/sqlite/sqlite_sql.hpp"

namespace acemq {

using outbox::Backlog;
using outbox::Claim;
using outbox::Lease;
using outbox::RetiredRow;
using outbox::Row;
using outbox::RowFailure;
using outbox::TimeFormat;
using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;
using Run = Statement::Run;

namespace {

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (std::size_t at = 0; (at = text.find(what)) != std::string_view::npos; text.remove_prefix(at + what.size())) {
    result.append(text.substr(0, at)).append(by);
  }
  return result.append(text);
}

// The form in which our statements compare times; it is the Rails form.
std::string normalised(Timestamp time) { return base::format_rails(time); }

// An unreadable time counts as the epoch, so that such a row comes first (CONTRACT 2.3).
Timestamp read_time(std::string_view text) { return base::parse_timestamp(text).value_or(Timestamp{}); }

// What a row beginning with anything but a digit has for created_at sorts at or behind this text, all others before it.
constexpr std::string_view kBehindDigits = ":";

std::int64_t to_limit(std::size_t rows) {
  return static_cast<std::int64_t>(std::min(rows, static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())));
}

std::int32_t to_attempts(std::int64_t stored) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(stored, Limits::min(), Limits::max()));
}

// The columns of a table, and which of the family's shapes they make (CONTRACT 1.2).
struct Shape {
  std::vector<std::string> columns;
  std::string created_at_type;

  bool has(std::string_view column) const { return std::find(columns.begin(), columns.end(), column) != columns.end(); }
  bool is_canonical() const {
    constexpr std::array kCanonical{"id",           "exchange_name", "routing_key", "body",         "body_encoding",
                                    "content_type", "headers",       "created_at",  "published_at", "attempts",
                                    "last_error",   "locked_by",     "locked_until"};
    return std::all_of(kCanonical.begin(), kCanonical.end(), [&](const char* column) { return has(column); });
  }
  std::string describe() const {
    std::string text;
    for (const std::string& column : columns) text += (text.empty() ? "" : ", ") + column;
    return text + (sibling().empty() ? "" : " (the " + std::string(sibling()) + " library's shape)");
  }

 private:
  std::string_view sibling() const {
    if (has("message_type") && has("payload")) return "Java";
    if (has("payload") && has("leased_until")) return ".NET";
    if (has("payload") || has("body_encoding")) return {};
    if (has("exchange_name")) return "Python";
    return has("exchange") && has("body") ? "Go" : "";
  }
};

Shape read_shape(const Connection& connection, const std::string& table) {
  Shape shape;
  const Statement statement(connection, std::string(sqlite_sql::kColumns), "reading the table's columns");
  for (Run run(statement, table); run.step();) {
    shape.columns.emplace_back(run.text(0));
    if (run.text(0) == "created_at") shape.created_at_type = run.text(1);
  }
  return shape;
}

// Refuses before anything is opened.
SqliteStoreOptions checked(const std::string& path, SqliteStoreOptions options) {
  outbox::check_table_name(options.table);
  if (path.find('\0') != std::string::npos) throw InvalidConfiguration("path", "must not contain a NUL", path);
  const auto timeout = options.busy_timeout;
  if (timeout < std::chrono::milliseconds(1) || timeout > std::chrono::minutes(10)) {
    throw InvalidConfiguration("busy_timeout", "must be 1 ms to 10 min", std::to_string(timeout.count()) + " ms");
  }
  if (options.clock == nullptr) options.clock = &system_clock();
  return options;
}

// A table, as long as its file is the one that was opened.
class OpenTable {
 public:
  // `options` have been checked.
  OpenTable(const std::string& path, const SqliteStoreOptions& options);

  bool file_has_moved() const noexcept { return connection_.file_has_moved(); }

  std::vector<Row> mark_and_claim(std::span<const std::string> published, const Claim& claim);
  void mark_published(std::span<const std::string> ids);
  std::size_t fail(std::span<const RowFailure> failures);
  std::size_t release(std::span<const Lease> leases, std::string_view reason);
  std::size_t renew(std::span<const Lease> leases, std::chrono::microseconds lease);
  Backlog backlog(std::int32_t attempts_max);
  std::vector<RetiredRow> retired(std::int32_t attempts_max, std::size_t rows_max);
  std::size_t purge_published(Timestamp before, std::size_t rows_max);

 private:
  // Candidates read so far in one claim.
  struct Batch {
    std::vector<Row> rows;
    std::vector<std::int64_t> rowids;
    std::size_t bytes = 0;
    bool full = false;
  };

  Statement prepare(std::string_view sql, std::string_view doing) const;
  void prepare_candidates();
  Run candidates(const Claim& claim, std::string_view created_from, std::size_t rows_max) const;
  std::optional<std::string> first_candidate(const Claim& claim) const;
  void read(const Claim& claim, std::string_view created_from, Batch& batch) const;
  std::vector<Row> take(const Claim& claim, std::string_view created_from);
  void mark(std::span<const std::string> ids);
  std::string stored(Timestamp time);

  Timestamp now() const { return options_.clock->now(); }

  const SqliteStoreOptions options_;
  Connection connection_;
  TimeFormat format_ = TimeFormat::automatic;  // automatic: no row has told yet
  TimeFormat declared_format_ = TimeFormat::iso;

  bool candidates_by_index_ = false;
  std::optional<Statement> candidates_;
  std::optional<Statement> sample_time_, lease_, mark_published_, fail_, release_, renew_, backlog_, retired_, purge_published_;
};

OpenTable::OpenTable(const std::string& path, const SqliteStoreOptions& options)
    : options_(options), connection_(path, options_.busy_timeout), format_(options_.time_format) {
  const Shape shape = read_shape(connection_, options_.table);
  if (shape.columns.empty()) {
    throw InvalidConfiguration("table", "must exist in the database; sqlite_schema() makes it", options_.table);
  }
  if (!shape.is_canonical()) {
    throw InvalidConfiguration("table", "must have the columns of sqlite_schema(); found: " + shape.describe(), options_.table);
  }
  if (sqlite3_strlike("%datetime%", shape.created_at_type.c_str(), 0) == 0) declared_format_ = TimeFormat::rails;

  // Debian's SQLite overwrites deleted rows with zeros by default, at the cost of more writes for every purge.
  connection_.execute("PRAGMA secure_delete = FAST", "setting up the connection");
  // A claim that is on disk has taken the application's earlier commits there with it: after a power failure no message is out
  // whose row, and order, is gone.
  connection_.execute("PRAGMA synchronous = FULL", "setting up the connection");

  sample_time_ = prepare(sqlite_sql::kSampleTime, "reading a row's time");
  lease_ = prepare(sqlite_sql::kLease, "leasing rows");
  mark_published_ = prepare(sqlite_sql::kMarkPublished, "marking rows published");
  fail_ = prepare(sqlite_sql::kFail, "writing down failures");
  release_ = prepare(sqlite_sql::kRelease, "releasing rows");
  renew_ = prepare(sqlite_sql::kRenew, "renewing leases");
  backlog_ = prepare(sqlite_sql::kBacklog, "counting rows");
  retired_ = prepare(sqlite_sql::kRetired, "listing retired rows");
  purge_published_ = prepare(sqlite_sql::kPurgePublished, "purging published rows");
  prepare_candidates();
}

Statement OpenTable::prepare(std::string_view sql, std::string_view doing) const {
  return Statement(connection_, replace_all(sql, "{table}", options_.table), doing);
}

// A table without our indexes is served as well, if slower; a table that gets them meanwhile is served fast from then on.
void OpenTable::prepare_candidates() {
  const auto with = [&](const std::string& relay_index, const std::string& waiting_index) {
    const std::string sql = replace_all(sqlite_sql::kCandidates, "{by_relay_index}", relay_index);
    return prepare(replace_all(sql, "{by_waiting_index}", waiting_index), "claiming rows");
  };
  candidates_.reset();
  candidates_by_index_ = false;
  try {
    candidates_ = with(R"(INDEXED BY "{table}_relay")", R"(INDEXED BY "{table}_waiting")");
    candidates_by_index_ = true;
  } catch (const StoreError&) {
    candidates_ = with("", "");
  }
}

// In the format of the table's rows; while there are none, in that of its declared type. Siblings compare raw text.
std::string OpenTable::stored(Timestamp time) {
  if (format_ == TimeFormat::automatic) {
    if (Run run(*sample_time_); run.step() && run.text(0).size() > 10) {
      if (run.text(0)[10] == 'T') format_ = TimeFormat::iso;
      if (run.text(0)[10] == ' ') format_ = TimeFormat::rails;
    }
  }
  const TimeFormat format = format_ == TimeFormat::automatic ? declared_format_ : format_;
  return format == TimeFormat::rails ? base::format_rails(time) : base::format_iso(time);
}

Run OpenTable::candidates(const Claim& claim, std::string_view created_from, std::size_t rows_max) const {
  const std::string time = normalised(now());
  return Run(*candidates_, std::int64_t{claim.attempts_max}, time, created_from, to_limit(rows_max),
             claim.created_from ? std::string() : time);
}

// The normalised created_at of the first row that may be claimed.
std::optional<std::string> OpenTable::first_candidate(const Claim& claim) const {
  Run run = candidates(claim, claim.created_from ? normalised(*claim.created_from) : std::string(), 1);
  if (!run.step()) return std::nullopt;
  return std::string(run.text(10));
}

void OpenTable::read(const Claim& claim, std::string_view created_from, Batch& batch) const {
  Run run = candidates(claim, created_from, claim.rows_max - batch.rows.size());
  while (run.step()) {
    const std::size_t bytes = run.text(4).size() + run.text(7).size();
    if (!batch.rows.empty() && batch.bytes + bytes > claim.bytes_max) {
      batch.full = true;
      return;
    }
    batch.bytes += bytes;
    batch.rowids.push_back(run.integer(0));
    batch.rows.push_back({.id = std::string(run.text(1)),
                          .exchange = std::string(run.text(2)),
                          .routing_key = std::string(run.text(3)),
                          .body = std::string(run.text(4)),
                          .body_encoding = std::string(run.text(5)),
                          .content_type = std::string(run.text(6)),
                          .headers = std::string(run.text(7)),
                          .created_at = read_time(run.text(8)),
                          .attempts = to_attempts(run.integer(9))});
  }
  batch.full = batch.rows.size() >= claim.rows_max;
}

// Under the write lock: reads candidates and leases them by rowid. Rows whose time begins with no digit stand at the index's
// end, so they are taken first and by a look of their own.
std::vector<Row> OpenTable::take(const Claim& claim, std::string_view created_from) {
  const std::string until = stored(now() + claim.lease);
  Batch batch;
  for (const std::string_view from : {kBehindDigits, created_from}) {
    if (batch.full) break;
    const std::size_t first = batch.rows.size();
    read(claim, from, batch);
    for (std::size_t i = first; i < batch.rowids.size(); ++i) Run(*lease_, claim.token, until, batch.rowids[i]).finish();
  }
  std::sort(batch.rows.begin(), batch.rows.end(), [](const Row& left, const Row& right) {
    return std::tie(left.created_at, left.id) < std::tie(right.created_at, right.id);
  });
  return std::move(batch.rows);
}

// Looks before it takes the write lock: an idle relay never holds up a writer, and rows that a claim has to pass by are passed
// without the lock. A row in front of those that becomes free in between is the next claim's.
std::vector<Row> OpenTable::mark_and_claim(std::span<const std::string> published, const Claim& claim) {
  if (!candidates_by_index_) prepare_candidates();
  try {
    const std::optional<std::string> first = first_candidate(claim);
    if (!first && published.empty()) return {};
    Transaction transaction(connection_);
    mark(published);
    std::vector<Row> rows;
    if (first) rows = take(claim, *first);
    transaction.commit();
    return rows;
  } catch (const StoreError&) {
    candidates_by_index_ = false;  // an index may have been dropped
    throw;
  }
}

void OpenTable::mark(std::span<const std::string> ids) {
  const std::string published_at = stored(now());
  for (const std::string& id : ids) Run(*mark_published_, id, published_at).finish();
}

void OpenTable::mark_published(std::span<const std::string> ids) {
  if (ids.empty()) return;
  Transaction transaction(connection_);
  mark(ids);
  transaction.commit();
}

std::size_t OpenTable::fail(std::span<const RowFailure> failures) {
  if (failures.empty()) return 0;
  std::size_t changed = 0;
  Transaction transaction(connection_);
  for (const RowFailure& failure : failures) {
    std::optional<std::string> until;
    if (failure.wait.count() > 0) until = stored(now() + failure.wait);
    Run(*fail_, failure.lease.id, failure.lease.token, std::int64_t{failure.counts}, outbox::to_last_error(failure.reason), until)
        .finish();
    changed += connection_.changes();
  }
  transaction.commit();
  return changed;
}

std::size_t OpenTable::release(std::span<const Lease> leases, std::string_view reason) {
  if (leases.empty()) return 0;
  std::optional<std::string> last_error;
  if (!reason.empty()) last_error = outbox::to_last_error(reason);
  std::size_t changed = 0;
  Transaction transaction(connection_);
  for (const Lease& lease : leases) {
    Run(*release_, lease.id, lease.token, last_error).finish();
    changed += connection_.changes();
  }
  transaction.commit();
  return changed;
}

std::size_t OpenTable::renew(std::span<const Lease> leases, std::chrono::microseconds lease) {
  if (leases.empty()) return 0;
  std::size_t changed = 0;
  Transaction transaction(connection_);
  const std::string until = stored(now() + lease);
  for (const Lease& each : leases) {
    Run(*renew_, each.id, each.token, until).finish();
    changed += connection_.changes();
  }
  transaction.commit();
  return changed;
}

Backlog OpenTable::backlog(std::int32_t attempts_max) {
  Run run(*backlog_, std::int64_t{attempts_max}, normalised(now()));
  run.step();
  const auto count = [&](int column) { return static_cast<std::uint64_t>(run.integer(column)); };
  std::optional<Timestamp> oldest;
  if (!run.is_null(4)) oldest = read_time(run.text(4));
  return {.pending = count(0), .waiting = count(1), .leased = count(2), .retired = count(3), .oldest = oldest};
}

std::vector<RetiredRow> OpenTable::retired(std::int32_t attempts_max, std::size_t rows_max) {
  std::vector<RetiredRow> rows;
  for (Run run(*retired_, std::int64_t{attempts_max}, to_limit(rows_max)); run.step();) {
    rows.push_back({.id = std::string(run.text(0)),
                    .exchange = std::string(run.text(1)),
                    .routing_key = std::string(run.text(2)),
                    .last_error = std::string(run.text(3)),
                    .created_at = read_time(run.text(4)),
                    .attempts = to_attempts(run.integer(5))});
  }
  return rows;
}

std::size_t OpenTable::purge_published(Timestamp before, std::size_t rows_max) {
  const std::string iso = base::format_iso(before);
  Run(*purge_published_, normalised(before), iso.substr(0, iso.find('T') + 1), iso, to_limit(rows_max)).finish();
  return connection_.changes();
}

}  // namespace

class SqliteStore::Impl {
 public:
  Impl(const std::string& path, SqliteStoreOptions options)
      : path_(path), options_(checked(path, std::move(options))), table_(std::make_unique<OpenTable>(path_, options_)) {}

  // A file that was deleted or replaced goes on to exist for whoever has it open: in one with a write-ahead log a relay would
  // find nothing new, for ever, and nothing wrong.
  OpenTable& table() {
    if (table_ && !table_->file_has_moved()) return *table_;
    table_.reset();  // first: two connections that share a log's name but not the file would take each other's locks away
    try {
      table_ = std::make_unique<OpenTable>(path_, options_);
    } catch (const InvalidConfiguration& error) {
      throw StoreError(std::string("SQLite: opening another file at the same path: ") + error.what(), "", {.try_again = true});
    }
    return *table_;
  }

 private:
  const std::string path_;
  const SqliteStoreOptions options_;
  std::unique_ptr<OpenTable> table_;
};

SqliteStore::SqliteStore(const std::string& path, SqliteStoreOptions options)
    : impl_(std::make_unique<Impl>(path, std::move(options))) {}
SqliteStore::~SqliteStore() = default;
SqliteStore::SqliteStore(SqliteStore&&) noexcept = default;
SqliteStore& SqliteStore::operator=(SqliteStore&&) noexcept = default;

std::vector<Row> SqliteStore::claim(const Claim& claim) { return impl_->table().mark_and_claim({}, claim); }

void SqliteStore::mark_published(std::span<const std::string> ids) { impl_->table().mark_published(ids); }

std::vector<Row> SqliteStore::mark_and_claim(std::span<const std::string> published, const Claim& claim) {
  return impl_->table().mark_and_claim(published, claim);
}

std::optional<std::size_t> SqliteStore::fail(std::span<const RowFailure> failures) { return impl_->table().fail(failures); }

std::optional<std::size_t> SqliteStore::release(std::span<const Lease> leases, std::string_view reason) {
  return impl_->table().release(leases, reason);
}

std::optional<std::size_t> SqliteStore::renew(std::span<const Lease> leases, std::chrono::microseconds lease) {
  return impl_->table().renew(leases, lease);
}

std::optional<Backlog> SqliteStore::backlog(std::int32_t attempts_max) { return impl_->table().backlog(attempts_max); }

std::vector<RetiredRow> SqliteStore::retired(std::int32_t attempts_max, std::size_t rows_max) {
  return impl_->table().retired(attempts_max, rows_max);
}

std::size_t SqliteStore::purge_published(Timestamp before, std::size_t rows_max) {
  return impl_->table().purge_published(before, rows_max);
}

std::string sqlite_schema(std::string_view table) {
  outbox::check_table_name(table);
  std::string schema;
  for (const std::string_view part :
       {sqlite_sql::kTable, sqlite_sql::kPendingIndex, sqlite_sql::kRelayIndex, sqlite_sql::kWaitingIndex}) {
    schema += replace_all(part, "{table}", table);
  }
  return schema;
}

}  // namespace acemq
