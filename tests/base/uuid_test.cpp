#include "base/uuid.hpp"

#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "acemq/testing/manual_clock.hpp"

namespace {

using acemq::base::new_uuid;

class Constant final : public acemq::Random {
 public:
  explicit Constant(std::uint64_t value) : value_(value) {}
  std::uint64_t next() noexcept override { return value_; }

 private:
  std::uint64_t value_;
};

// The version and variant digits are fixed whatever the random bits are; all others come from them.
TEST(Uuid, HasVersion4AndItsVariant) {
  Constant zeros(0), ones(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(new_uuid(zeros), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(new_uuid(ones), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

// The same seed gives the same ids, and 10,000 in a row are all different.
TEST(Uuid, ComesFromTheGivenRandomness) {
  acemq::testing::SeededRandom one(7), two(7);
  EXPECT_EQ(new_uuid(one), new_uuid(two));
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(new_uuid(one));
  EXPECT_EQ(seen.size(), 10'000U);
}

}  // namespace
