// AfterCommit: publishes after a commit what was collected during the transaction, and drops it on a rollback.
//
//   acemq::AfterCommit later{connection};
//   place_order(transaction, order);
//   later.add(acemq::outbox::record(shop, order_json, {.to = "order.placed", .exchange = "shop-events"}));
//   transaction.commit();
//   const acemq::BatchOutcome outcome = later.committed();        // left out by an exception: nothing is published
//
// This is no outbox. A crash between the commit and the publish loses the messages, and so does a broker that is away at that
// moment, unless the caller keeps what the outcome names: the order stands, nobody hears of it, and nothing will ever say so.
// When that matters, write them to the outbox in the same transaction; then they are delivered, however long it takes.
#pragma once

#include <vector>

#include "acemq/connection.hpp"
#include "acemq/outbox/record.hpp"

namespace acemq {

// For one transaction, and used by one thread at a time.
class AfterCommit {
 public:
  // `publisher`, a Connection for instance, must outlive it.
  explicit AfterCommit(Publisher& publisher) : publisher_(publisher) {}
  AfterCommit(const AfterCommit&) = delete;
  AfterCommit& operator=(const AfterCommit&) = delete;
  // Drops what was not published.
  ~AfterCommit() = default;

  // Throws InvalidRecord now, while the transaction can still be rolled back.
  void add(outbox::Record record);

  // To be called once the commit has succeeded. Publishes in the order of add() and holds nothing afterwards, whatever came of
  // it.
  BatchOutcome committed();

 private:
  Publisher& publisher_;
  std::vector<outbox::Record> records_;
};

}  // namespace acemq
