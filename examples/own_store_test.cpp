// The conformance suite on a store of your own, with GoogleTest.
#include "own_store.hpp"

#include <memory>
#include <string>
#include <utility>

#include <acemq/testing.hpp>
#include <gtest/gtest.h>

namespace {

using acemq::testing::ConformanceCase;

// An empty table, made anew for each case, and a look past the store at what is in it.
class VectorSubject final : public acemq::testing::StoreSubject {
 public:
  std::shared_ptr<acemq::outbox::Store> store() override { return store_; }
  acemq::testing::ManualClock& clock() override { return clock_; }
  void add(const acemq::outbox::Record& record) override { store_->add(record); }
  std::string state(const std::string& id) override { return store_->state(id); }
  // This store writes no failures down, so there is nothing to read.
  std::string last_error(const std::string& /*id*/) override { return {}; }
  std::int32_t attempts(const std::string& /*id*/) override { return 0; }

 private:
  acemq::testing::ManualClock clock_;
  std::shared_ptr<VectorStore> store_ = std::make_shared<VectorStore>(clock_);
};

class VectorStoreConformance final : public ::testing::Test {
 public:
  explicit VectorStoreConformance(ConformanceCase the_case) : case_(std::move(the_case)) {}
  void TestBody() override {
    VectorSubject subject;
    case_.run(subject);  // throws ConformanceFailure, and GoogleTest shows its text
  }

 private:
  ConformanceCase case_;
};

}  // namespace

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  // Called inside a case that needs more than claim() and mark_published().
  const auto skipped = [](const std::string& /*name*/, const std::string& reason) { GTEST_SKIP() << reason; };
  for (const ConformanceCase& each : acemq::testing::store_conformance(skipped)) {
    ::testing::RegisterTest("VectorStore", each.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [each]() -> ::testing::Test* { return new VectorStoreConformance(each); });
  }
  return RUN_ALL_TESTS();
}
