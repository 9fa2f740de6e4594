#include "acemq/outbox/store.hpp"

#include <gtest/gtest.h>

namespace {

using namespace acemq::outbox;

// A store of a user's own with the two functions that are needed.
class Smallest final : public Store {
 public:
  std::vector<Row> claim(const Claim& claim) override {
    calls += "claim " + claim.token + " ";
    return {};
  }
  void mark_published(std::span<const std::string> ids) override { calls += "mark " + std::to_string(ids.size()) + " "; }
  std::string calls;
};

// Whatever it leaves out answers "I cannot", and the combined call does one after the other.
TEST(Store, TwoFunctionsAreEnough) {
  Smallest store;
  const std::vector<std::string> ids{"1", "2"};
  store.mark_and_claim(ids, {.token = "t"});
  store.mark_and_claim({}, {.token = "u"});
  EXPECT_EQ(store.calls, "mark 2 claim t claim u ");
  EXPECT_EQ(store.fail({}), std::nullopt);
  EXPECT_EQ(store.release({}, ""), std::nullopt);
  EXPECT_EQ(store.renew({}, std::chrono::seconds(1)), std::nullopt);
  EXPECT_FALSE(store.backlog(10));
  EXPECT_TRUE(store.retired(10, 1).empty());
  EXPECT_EQ(store.purge_published({}, 1), 0U);
}

}  // namespace
