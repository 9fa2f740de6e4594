// Store: what a relay asks of an outbox table. SqliteStore (sqlite_store.hpp) and MemoryStore (testing.hpp) are two; write your
// own for another database. Only claim() and mark_published() are needed; what the rest adds is said on each.
//
// A store is used by one thread at a time, the relay's. Each call is one short transaction of the store's own, never open
// while a broker is waited for. Every call may throw StoreError; the relay then backs off and asks again. The conformance
// suite in testing.hpp shows whether an implementation keeps these contracts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "acemq/clock.hpp"

namespace acemq::outbox {

// A record as stored, undecoded: a row that cannot be decoded is the relay's to refuse.
struct Row {
  std::string id = {};
  std::string exchange = {};
  std::string routing_key = {};
  std::string body = {};           // text
  std::string body_encoding = {};  // "utf-8" or "base64"
  std::string content_type = {};
  std::string headers = {};   // a JSON object
  Timestamp created_at = {};  // the epoch when it cannot be read: such a row comes first and is still sent
  std::int32_t attempts = 0;  // counted failures so far
};

// A row under a lease: the token is the claim's. Failing, releasing and renewing reach only rows that still carry it.
struct Lease {
  std::string id = {};
  std::string token = {};
};

struct Claim {
  std::string token = {};                         // new for every claim
  std::size_t rows_max = 100;                     // 1 … 10 000
  std::size_t bytes_max = std::size_t{16} << 20;  // of bodies and headers; one larger row passes alone
  std::chrono::microseconds lease = std::chrono::seconds(60);
  std::int32_t attempts_max = 10;
  // Rows created earlier may be left out: an accelerator, never a condition of delivery (CONTRACT 4). Then a lane in which a row
  // has waited is left out until that row is claimed again, even if its wait is over: newer rows must not go before it. A store
  // may ignore this field.
  std::optional<Timestamp> created_from = std::nullopt;
};

// The failure of one row.
struct RowFailure {
  Lease lease = {};
  std::string reason = {};            // becomes last_error, cut to 1000 characters (not bytes: CONTRACT 2.4)
  bool counts = false;                // adds one to attempts
  std::chrono::microseconds wait{0};  // until it may be claimed again; no owner meanwhile
};

struct Backlog {
  std::uint64_t pending = 0;             // every unpublished row, the retired ones included (CONTRACT 4)
  std::uint64_t waiting = 0;             // pending, due later: after a failure
  std::uint64_t leased = 0;              // pending, in the hands of a relay
  std::uint64_t retired = 0;             // pending, given up: attempts at the ceiling
  std::optional<Timestamp> oldest = {};  // created_at of the oldest pending row that is not retired
};

struct RetiredRow {
  std::string id = {}, exchange = {}, routing_key = {}, last_error = {};
  Timestamp created_at = {};
  std::int32_t attempts = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Takes up to rows_max rows under a lease and returns exactly those, ordered by created_at, id. Candidates are unpublished
  // rows with attempts < attempts_max whose lease or wait, if any, is over, and in whose lane (exchange and routing key) no row
  // is waiting after a failure. Two claims never return the same row while its lease lasts. May return fewer, or none.
  virtual std::vector<Row> claim(const Claim& claim) = 0;

  // Marks rows published and ends their leases, whoever holds them: the messages are at the broker. Unknown ids are ignored;
  // a row that is marked already keeps its time.
  virtual void mark_published(std::span<const std::string> ids) = 0;

  // Both in one transaction where the database gains from it.
  virtual std::vector<Row> mark_and_claim(std::span<const std::string> published, const Claim& claim) {
    if (!published.empty()) mark_published(published);
    return this->claim(claim);
  }

  // The next three return how many rows were still held and were changed. nullopt: this store cannot, and the lease ends by
  // itself.

  // Writes failures down: reason, attempts, wait; ends the leases. Without it attempts are never counted.
  virtual std::optional<std::size_t> fail(std::span<const RowFailure> failures);
  // Gives rows back, to be claimed again at once. A reason, if not empty, becomes last_error; attempts stay.
  // Without it rows that were not sent stay out of reach until their lease ends.
  virtual std::optional<std::size_t> release(std::span<const Lease> leases, std::string_view reason);
  // Starts the leases anew from now. Without it the relay lets go of what it cannot send within one lease.
  virtual std::optional<std::size_t> renew(std::span<const Lease> leases, std::chrono::microseconds lease);

  // What an operator asks; nullopt: this store cannot tell. `attempts_max` says who counts as retired.
  virtual std::optional<Backlog> backlog(std::int32_t attempts_max);
  // The oldest `rows_max` retired rows.
  virtual std::vector<RetiredRow> retired(std::int32_t attempts_max, std::size_t rows_max);
  // Deletes at most `rows_max` rows published before `before`; returns how many. Call it until it returns less.
  virtual std::size_t purge_published(Timestamp before, std::size_t rows_max);
};

}  // namespace acemq::outbox
