#include "acemq/testing/memory_store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "acemq/envelope.hpp"
#include "acemq/error.hpp"
#include "message/headers_json.hpp"
#include "outbox/row_rules.hpp"

namespace acemq::testing {

using outbox::Backlog;
using outbox::Claim;
using outbox::Lease;
using outbox::Record;
using outbox::RetiredRow;
using outbox::Row;
using outbox::RowFailure;

namespace {

using Key = std::pair<Timestamp, std::string>;  // created_at, id
using Lane = std::pair<std::string_view, std::string_view>;

Lane lane_of(const Row& row) { return {row.exchange, row.routing_key}; }

struct Entry {
  MemoryStore::StoredRow stored;
  Headers headers;  // the record's; empty for a row given undecoded

  bool is_pending() const { return !stored.published_at; }
  bool is_held(Timestamp now) const { return stored.locked_until && *stored.locked_until > now; }
  bool is_waiting(Timestamp now) const { return is_held(now) && stored.locked_by.empty(); }
  void unlock() {
    stored.locked_by.clear();
    stored.locked_until.reset();
  }
};

Row to_row(const Record& record) {
  outbox::StoredBody body = outbox::encode_body(record.body);
  return {.id = record.id,
          .exchange = record.exchange,
          .routing_key = record.routing_key,
          .body = std::move(body.text),
          .body_encoding = std::string(body.encoding),
          .content_type = record.content_type,
          .headers = message::to_json(record.headers),
          .created_at = record.created_at};
}

// The application's own headers without trace context: a retried record() has another one.
Headers application_headers(const Headers& headers) {
  Headers own;
  for (const auto& [name, value] : headers) {
    const bool traced = name == "traceparent" || name == "tracestate";
    if (!traced && !name.starts_with(kReservedPrefix)) own.append_unique(name, value);
  }
  return own;
}

bool same_header(const Headers& left, const Headers& right, std::string_view name) {
  const HeaderValue* a = left.find(name);
  const HeaderValue* b = right.find(name);
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

// The first part of the content (DESIGN 4) in which a new record differs from the stored one of its id; empty if none.
std::string_view first_difference(const Entry& entry, const Row& row, const Headers& headers) {
  const Row& old = entry.stored.row;
  if (old.exchange != row.exchange) return "exchange";
  if (old.routing_key != row.routing_key) return "routing_key";
  if (!same_header(entry.headers, headers, "x-acemq-type")) return "type";
  if (!same_header(entry.headers, headers, "x-acemq-version")) return "version";
  if (old.content_type != row.content_type) return "content_type";
  if (old.body != row.body || old.body_encoding != row.body_encoding) return "body";
  if (application_headers(entry.headers) != application_headers(headers)) return "headers";
  return {};
}

}  // namespace

struct MemoryStore::Impl {
  explicit Impl(const Clock& the_clock) : clock(the_clock) {}

  const Clock& clock;
  mutable std::mutex mutex;
  std::map<Key, Entry> entries;
  std::map<std::string, Key, std::less<>> keys;  // by id
  std::size_t failures_left = 0;
  std::string failure_text;

  // Every call of the Store interface begins here.
  std::unique_lock<std::mutex> enter() {
    std::unique_lock lock(mutex);
    if (failures_left > 0) {
      --failures_left;
      throw StoreError(failure_text, "", {.try_again = true});
    }
    return lock;
  }

  void insert(Row row, Headers headers) {
    const Key key{row.created_at, row.id};
    if (!keys.emplace(row.id, key).second) return;
    Entry& entry = entries[key];
    entry.stored.row = std::move(row);
    entry.headers = std::move(headers);
  }

  Entry* find(std::string_view id) {
    const auto found = keys.find(id);
    return found == keys.end() ? nullptr : &entries.at(found->second);
  }
  // The row, if it still carries the lease.
  Entry* find_held(const Lease& lease) {
    Entry* entry = find(lease.id);
    return entry != nullptr && entry->is_pending() && entry->stored.locked_by == lease.token ? entry : nullptr;
  }

  // Of rows that are waiting at `now`; without it, of rows that have waited and were not claimed since.
  std::set<Lane> waiting_lanes(std::optional<Timestamp> now, std::int32_t attempts_max) const {
    std::set<Lane> lanes;
    for (const auto& [key, entry] : entries) {
      const bool alive = entry.is_pending() && entry.stored.row.attempts < attempts_max;
      if (alive && entry.is_waiting(now.value_or(Timestamp::min()))) lanes.insert(lane_of(entry.stored.row));
    }
    return lanes;
  }

  std::vector<Row> claim(const Claim& claim) {
    const Timestamp now = clock.now();
    const std::set<Lane> waiting = waiting_lanes(claim.created_from ? std::nullopt : std::optional(now), claim.attempts_max);
    std::vector<Row> rows;
    std::size_t bytes = 0;
    for (auto& [key, entry] : entries) {
      const Row& row = entry.stored.row;
      if (!entry.is_pending() || row.attempts >= claim.attempts_max || entry.is_held(now)) continue;
      if (claim.created_from && row.created_at < *claim.created_from) continue;
      if (waiting.count(lane_of(row)) != 0) continue;
      bytes += row.body.size() + row.headers.size();
      if (rows.size() >= claim.rows_max || (!rows.empty() && bytes > claim.bytes_max)) break;
      entry.stored.locked_by = claim.token;
      entry.stored.locked_until = now + claim.lease;
      rows.push_back(row);
    }
    return rows;
  }

  void mark_published(std::span<const std::string> ids) {
    for (const std::string& id : ids) {
      Entry* entry = find(id);
      if (entry == nullptr) continue;
      if (entry->is_pending()) entry->stored.published_at = clock.now();
      entry->unlock();
    }
  }
};

MemoryStore::MemoryStore(const Clock& clock) : impl_(std::make_unique<Impl>(clock)) {}
MemoryStore::~MemoryStore() = default;

void MemoryStore::add(const Record& record) {
  outbox::check(record);
  Row row = to_row(record);
  const std::lock_guard lock(impl_->mutex);
  const Entry* entry = impl_->find(record.id);
  if (entry == nullptr) return impl_->insert(std::move(row), record.headers);
  const std::string_view field = first_difference(*entry, row, record.headers);
  if (!field.empty()) throw IdConflict(record.id, field);
}

void MemoryStore::add_row(const Row& row) {
  const std::lock_guard lock(impl_->mutex);
  impl_->insert(row, {});
}

std::vector<MemoryStore::StoredRow> MemoryStore::rows() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<StoredRow> rows;
  for (const auto& [key, entry] : impl_->entries) rows.push_back(entry.stored);
  return rows;
}

void MemoryStore::fail_next(std::size_t calls, std::string text) {
  const std::lock_guard lock(impl_->mutex);
  impl_->failures_left = calls;
  impl_->failure_text = std::move(text);
}

std::vector<Row> MemoryStore::claim(const Claim& claim) {
  const auto lock = impl_->enter();
  return impl_->claim(claim);
}

void MemoryStore::mark_published(std::span<const std::string> ids) {
  const auto lock = impl_->enter();
  impl_->mark_published(ids);
}

std::vector<Row> MemoryStore::mark_and_claim(std::span<const std::string> published, const Claim& claim) {
  const auto lock = impl_->enter();
  impl_->mark_published(published);
  return impl_->claim(claim);
}

std::optional<std::size_t> MemoryStore::fail(std::span<const RowFailure> failures) {
  const auto lock = impl_->enter();
  std::size_t changed = 0;
  for (const RowFailure& failure : failures) {
    Entry* entry = impl_->find_held(failure.lease);
    if (entry == nullptr) continue;
    entry->unlock();
    if (failure.wait.count() > 0) entry->stored.locked_until = impl_->clock.now() + failure.wait;
    if (failure.counts) ++entry->stored.row.attempts;
    entry->stored.last_error = outbox::to_last_error(failure.reason);
    ++changed;
  }
  return changed;
}

std::optional<std::size_t> MemoryStore::release(std::span<const Lease> leases, std::string_view reason) {
  const auto lock = impl_->enter();
  std::size_t changed = 0;
  for (const Lease& lease : leases) {
    Entry* entry = impl_->find_held(lease);
    if (entry == nullptr) continue;
    entry->unlock();
    if (!reason.empty()) entry->stored.last_error = outbox::to_last_error(reason);
    ++changed;
  }
  return changed;
}

std::optional<std::size_t> MemoryStore::renew(std::span<const Lease> leases, std::chrono::microseconds lease) {
  const auto lock = impl_->enter();
  std::size_t changed = 0;
  for (const Lease& each : leases) {
    Entry* entry = impl_->find_held(each);
    if (entry == nullptr) continue;
    entry->stored.locked_until = impl_->clock.now() + lease;
    ++changed;
  }
  return changed;
}

std::optional<Backlog> MemoryStore::backlog(std::int32_t attempts_max) {
  const auto lock = impl_->enter();
  const Timestamp now = impl_->clock.now();
  Backlog backlog;
  for (const auto& [key, entry] : impl_->entries) {
    if (!entry.is_pending()) continue;
    ++backlog.pending;
    if (entry.stored.row.attempts >= attempts_max) {
      ++backlog.retired;
      continue;
    }
    if (!backlog.oldest) backlog.oldest = entry.stored.row.created_at;
    if (entry.is_waiting(now)) {
      ++backlog.waiting;
    } else if (entry.is_held(now)) {
      ++backlog.leased;
    }
  }
  return backlog;
}

std::vector<RetiredRow> MemoryStore::retired(std::int32_t attempts_max, std::size_t rows_max) {
  const auto lock = impl_->enter();
  std::vector<RetiredRow> rows;
  for (const auto& [key, entry] : impl_->entries) {
    if (rows.size() == rows_max) break;
    const Row& row = entry.stored.row;
    if (!entry.is_pending() || row.attempts < attempts_max) continue;
    rows.push_back({row.id, row.exchange, row.routing_key, entry.stored.last_error, row.created_at, row.attempts});
  }
  return rows;
}

std::size_t MemoryStore::purge_published(Timestamp before, std::size_t rows_max) {
  const auto lock = impl_->enter();
  std::size_t purged = 0;
  for (auto each = impl_->entries.begin(); each != impl_->entries.end() && purged < rows_max;) {
    const auto entry = each++;
    const std::optional<Timestamp>& published_at = entry->second.stored.published_at;
    if (!published_at || *published_at >= before) continue;
    impl_->keys.erase(entry->first.second);
    impl_->entries.erase(entry);
    ++purged;
  }
  return purged;
}

}  // namespace acemq::testing
