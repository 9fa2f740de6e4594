// SqliteStore: the relay's side of an outbox table in a SQLite file, over a connection of its own.
//
// Works on the table that sqlite_schema() makes and on the one of the documented Rails migration, unchanged, in either time
// format, beside siblings that read and write the same rows (CONTRACT 1.3, 2.3, 4).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "acemq/outbox/insert.hpp"
#include "acemq/outbox/store.hpp"

namespace acemq {

struct SqliteStoreOptions {
  std::string table = std::string(outbox::kDefaultTable);
  outbox::TimeFormat time_format = outbox::TimeFormat::automatic;
  // How long a statement waits for another writer before it fails with StoreError, to be tried again; 1 ms … 10 min.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);
  // Must outlive the store; nullptr means the machine's own. Lease times come from it (DESIGN 5.4).
  const Clock* clock = nullptr;
};

class SqliteStore final : public outbox::Store {
 public:
  // Opens `path`, which must exist, and checks the table's shape. Never changes the journal mode, never creates anything. When
  // the file is replaced later, the next call opens the new one; while there is none, each throws StoreError.
  // Throws InvalidConfiguration (name, option, a table of another shape: with the columns found) or StoreError.
  explicit SqliteStore(const std::string& path, SqliteStoreOptions options = {});
  ~SqliteStore() override;
  SqliteStore(SqliteStore&&) noexcept;
  SqliteStore& operator=(SqliteStore&&) noexcept;

  std::vector<outbox::Row> claim(const outbox::Claim& claim) override;
  void mark_published(std::span<const std::string> ids) override;
  std::vector<outbox::Row> mark_and_claim(std::span<const std::string> published, const outbox::Claim& claim) override;
  std::optional<std::size_t> fail(std::span<const outbox::RowFailure> failures) override;
  std::optional<std::size_t> release(std::span<const outbox::Lease> leases, std::string_view reason) override;
  std::optional<std::size_t> renew(std::span<const outbox::Lease> leases, std::chrono::microseconds lease) override;
  std::optional<outbox::Backlog> backlog(std::int32_t attempts_max) override;
  std::vector<outbox::RetiredRow> retired(std::int32_t attempts_max, std::size_t rows_max) override;
  std::size_t purge_published(Timestamp before, std::size_t rows_max) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The statements that make an outbox table and its indexes, for a migration: each IF NOT EXISTS, safe to run again and on a
// table made by a sibling. Throws InvalidConfiguration for a bad table name.
std::string sqlite_schema(std::string_view table = outbox::kDefaultTable);

}  // namespace acemq
