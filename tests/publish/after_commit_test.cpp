#include "acemq/after_commit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "publish/publish_fixture.hpp"

namespace acemq::test {
namespace {

using Kind = PublishOutcome::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AfterCommitTest : public PublishTest {};

// Nothing goes out before committed(); then everything does, in order, once.
TEST_F(AfterCommitTest, PublishesOnceCommitted) {
  AfterCommit later{connection()};
  later.add(record("a"));
  later.add(record("b"));
  EXPECT_EQ(broker->publishes(), 0U);
  EXPECT_TRUE(later.committed().all_confirmed());
  EXPECT_TRUE(later.committed().outcomes.empty());
  EXPECT_THAT(published_ids(), ElementsAre("a", "b"));
}

// A rollback, which is destruction without committed(), drops what was collected.
TEST_F(AfterCommitTest, DropsOnRollback) {
  {
    AfterCommit later{connection()};
    later.add(record("a"));
  }
  EXPECT_EQ(broker->opened(), 0U);
  EXPECT_THAT(published_ids(), IsEmpty());
}

// A record that no broker would take is refused while the transaction can still roll back.
TEST_F(AfterCommitTest, RefusesInvalidRecordsAtOnce) {
  AfterCommit later{connection()};
  outbox::Record invalid = record("a");
  invalid.id.clear();
  EXPECT_THROW(later.add(std::move(invalid)), InvalidRecord);
  EXPECT_TRUE(later.committed().outcomes.empty());
}

// What it does not promise: without a broker at that moment the outcome is all there is; it holds nothing for a second attempt.
TEST_F(AfterCommitTest, AnOutageLosesTheMessages) {
  AfterCommit later{connection()};
  later.add(record("a"));
  broker->refuse_connections("away");
  EXPECT_THAT(kinds(later.committed()), ElementsAre(Kind::refused));
  broker->refuse_connections("");
  EXPECT_TRUE(later.committed().outcomes.empty());
  EXPECT_THAT(published_ids(), IsEmpty());
}

}  // namespace
}  // namespace acemq::test
