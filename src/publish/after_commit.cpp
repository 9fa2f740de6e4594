#include "acemq/after_commit.hpp"

#include <utility>

namespace acemq {

void AfterCommit::add(outbox::Record record) {
  outbox::check(record);
  records_.push_back(std::move(record));
}

BatchOutcome AfterCommit::committed() { return publisher_.publish_all(std::exchange(records_, {})); }

}  // namespace acemq
