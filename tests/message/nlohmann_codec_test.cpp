// nlohmann::json values as payloads.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acemq/adapters/nlohmann_json.hpp"
#include "acemq/outbox/record.hpp"

namespace acemq {
namespace {

// The value becomes the body as it is, keys in the order of its kind, and the content type says JSON.
TEST(NlohmannCodec, EncodesValues) {
  const BasicMessageFactory<NlohmannCodec> shop{{.origin = "shop@web-1"}};
  const nlohmann::ordered_json order{{"order", "A-1"}, {"lines", {1, 2.5, nullptr}}, {"city", "Zürich"}};
  const outbox::Record record = outbox::record(shop, order, {.to = "order.placed"});
  EXPECT_EQ(record.body, R"({"order":"A-1","lines":[1,2.5,null],"city":"Zürich"})");
  EXPECT_EQ(record.content_type, "application/json");
  EXPECT_EQ(outbox::record(shop, nlohmann::json(5), {.to = "k"}).body, "5");
}

// What JSON cannot say is refused instead of sent as something else.
TEST(NlohmannCodec, RefusesWhatIsNotJson) {
  const NlohmannCodec codec;
  EXPECT_THROW(codec.encode(nlohmann::json{{"deep", {1, std::numeric_limits<double>::quiet_NaN()}}}), InvalidRecord);
  EXPECT_THROW(codec.encode(nlohmann::json(-std::numeric_limits<double>::infinity())), InvalidRecord);
  EXPECT_THROW(codec.encode(nlohmann::json("\xff")), InvalidRecord);
}

}  // namespace
}  // namespace acemq
