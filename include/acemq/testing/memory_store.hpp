#pragma once

#include <memory>
#include <string>
#include <vector>

#include "acemq/clock.hpp"
#include "acemq/outbox/record.hpp"
#include "acemq/outbox/store.hpp"

namespace acemq::testing {

// An outbox table in memory with everything a real one does, leases and waits included. Unlike other stores it is thread-safe:
// a test adds while a relay runs. `clock` must outlive it.
class MemoryStore final : public outbox::Store {
 public:
  explicit MemoryStore(const Clock& clock);
  ~MemoryStore() override;

  // As a committed transaction would leave it. The same id with the same content does nothing, with other content throws
  // IdConflict; an invalid record throws InvalidRecord.
  void add(const outbox::Record& record);
  // A row as a sibling, or a fault, may have written it: unchecked.
  void add_row(const outbox::Row& row);

  // A row as it stands, for a test to look at.
  struct StoredRow {
    outbox::Row row;
    std::optional<Timestamp> published_at;
    std::string last_error;
    std::string locked_by;  // empty: nobody
    std::optional<Timestamp> locked_until;
  };
  // In order of created_at, id.
  std::vector<StoredRow> rows() const;
  // The next `calls` calls of the Store interface throw StoreError with this text.
  void fail_next(std::size_t calls, std::string text);

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
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace acemq::testing
