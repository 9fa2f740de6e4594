#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "acemq/outbox/record.hpp"
#include "publish/publish_fixture.hpp"
#include "relay/row_decoder.hpp"

namespace acemq::test {
namespace {

// A message directly, and the row of the same record decoded by the relay: field by field the same (P9), header kinds included,
// for a text body and a binary one.
TEST(SameBytes, ADirectMessageIsTheOneThatTheRelayMakes) {
  testing::ManualClock clock;
  const auto broker = std::make_shared<testing::FakeTransport>(clock);
  const BasicMessageFactory<BytesCodec> factory{{.origin = "shop@web-1", .clock = &clock}};
  BasicConnection<BytesCodec> connection{factory, broker, {.clock = &clock}};
  const Headers headers{{"text", "gr\xC3\xBC\xC3\x9F \"\\\x01"},
                        {"yes", true},
                        {"small", -7},
                        {"large", std::int64_t{1} << 40},
                        {"whole", 2.0},
                        {"tenth", 0.1},
                        {"nothing", nullptr},
                        {"list", HeaderList{"a", 1, HeaderList{}}},
                        {"table", Headers{{"b", false}, {"c", Headers{}}}}};

  for (const std::string& body : {std::string("{\"total\":\"12,\xE2\x82\xAC\"}"), std::string("\xFF\0\x01", 3), std::string()}) {
    const outbox::Record record = outbox::record(
        factory, body,
        {.to = "order.placed", .exchange = "shop-events", .type = "order.placed.v2", .version = 2, .headers = headers});
    ASSERT_TRUE(connection.publish(record).confirmed());
    const Message direct = broker->published().back();

    testing::MemoryStore store{clock};
    store.add(record);
    std::string defect;
    const Message relayed = relay::decode_row(std::move(store.claim({.token = "t"}).at(0)), defect);
    ASSERT_EQ(defect, "");
    EXPECT_EQ(direct.exchange, relayed.exchange);
    EXPECT_EQ(direct.routing_key, relayed.routing_key);
    EXPECT_EQ(direct.message_id, relayed.message_id);
    EXPECT_EQ(direct.content_type, relayed.content_type);
    EXPECT_TRUE(direct.headers == relayed.headers);
    EXPECT_EQ(direct.body, relayed.body);
    EXPECT_EQ(direct.mandatory, relayed.mandatory);
  }
}

}  // namespace
}  // namespace acemq::test
