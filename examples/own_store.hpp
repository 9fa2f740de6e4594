// A store of your own, the smallest there is: its table is a vector, and it has claim() and mark_published() alone.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <acemq/clock.hpp>
#include <acemq/outbox/insert.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/outbox/store.hpp>

class VectorStore final : public acemq::outbox::Store {
 public:
  explicit VectorStore(const acemq::Clock& clock) : clock_(clock) {}

  // The writing side. A database would be handed insert_statement(); this "table" takes the columns from its parameters. It is
  // sorted by created_at, id as rows have to be sent: one that is committed late may be older than those that are there.
  void add(const acemq::outbox::Record& record) {
    if (find(record.id) != nullptr) return;  // the same id again: no second row
    const auto columns = acemq::outbox::insert_statement(record).parameters;
    Entry added{.row = {.id = columns[0],
                        .exchange = columns[1],
                        .routing_key = columns[2],
                        .body = columns[3],
                        .body_encoding = columns[4],
                        .content_type = columns[5],
                        .headers = columns[6],
                        .created_at = record.created_at}};
    const auto place = std::upper_bound(entries_.begin(), entries_.end(), added, [](const Entry& one, const Entry& other) {
      return std::tie(one.row.created_at, one.row.id) < std::tie(other.row.created_at, other.row.id);
    });
    entries_.insert(place, std::move(added));
  }

  // A row that was claimed is out of reach until its lease ends: that is what lets a second relay work beside this one, and a
  // dead relay's rows come back.
  std::vector<acemq::outbox::Row> claim(const acemq::outbox::Claim& claim) override {
    std::vector<acemq::outbox::Row> rows;
    std::size_t bytes = 0;
    for (Entry& entry : entries_) {
      if (entry.published || entry.leased_until > clock_.now()) continue;
      bytes += entry.row.body.size() + entry.row.headers.size();
      if (rows.size() == claim.rows_max || (bytes > claim.bytes_max && !rows.empty())) break;
      entry.leased_until = clock_.now() + claim.lease;
      rows.push_back(entry.row);
    }
    return rows;
  }

  // Only ids: marking is not a matter of leases. The messages are at the broker, whoever holds the rows.
  void mark_published(std::span<const std::string> ids) override {
    for (Entry& entry : entries_) {
      if (std::find(ids.begin(), ids.end(), entry.row.id) != ids.end()) entry.published = true;
    }
  }

  // For a test to look at.
  std::string state(const std::string& id) const {
    const Entry* entry = find(id);
    if (entry == nullptr) return "missing";
    if (entry->published) return "published";
    return entry->leased_until > clock_.now() ? "leased" : "pending";
  }

 private:
  struct Entry {
    acemq::outbox::Row row = {};
    bool published = false;
    acemq::Timestamp leased_until = {};
  };

  const Entry* find(const std::string& id) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.row.id == id; });
    return found == entries_.end() ? nullptr : &*found;
  }

  const acemq::Clock& clock_;
  std::vector<Entry> entries_;
};
