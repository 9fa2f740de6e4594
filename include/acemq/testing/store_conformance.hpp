// The suite that every Store must pass. Bound to no test framework: a case is a name and a function that throws
// ConformanceFailure. With GoogleTest:
//
//   for (const auto& c : acemq::testing::store_conformance())
//     ::testing::RegisterTest("MyStore", c.name.c_str(), …, [&] { return new CaseTest(c, make_subject); });
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "acemq/outbox/record.hpp"
#include "acemq/outbox/store.hpp"
#include "acemq/testing/manual_clock.hpp"

namespace acemq::testing {

// One empty outbox table and the ways to reach it; made anew for each case.
class StoreSubject {
 public:
  virtual ~StoreSubject() = default;
  // A store over this table on `clock()`. Called more than once for cases with several relays.
  virtual std::shared_ptr<outbox::Store> store() = 0;
  // The clock that the store was given; a store that uses its database's clock returns false from clock_rules().
  virtual ManualClock& clock() = 0;
  virtual bool clock_rules() const { return true; }
  // Commits a record, as an application would.
  virtual void add(const outbox::Record& record) = 0;
  // The stored state of one row, read past the store: "pending", "leased", "waiting", "published" or "missing".
  virtual std::string state(const std::string& id) = 0;
  virtual std::string last_error(const std::string& id) = 0;
  virtual std::int32_t attempts(const std::string& id) = 0;
};

class ConformanceFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ConformanceCase {
  std::string name;
  std::function<void(StoreSubject&)> run;
};

// Cases that need fail(), release(), renew(), backlog(), retired() or purge_published() call `skipped` with their name and the
// reason when the store cannot, and end.
std::vector<ConformanceCase> store_conformance(
    const std::function<void(const std::string& name, const std::string& reason)>& skipped = {});

}  // namespace acemq::testing
