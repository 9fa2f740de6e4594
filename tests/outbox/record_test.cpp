#include "acemq/outbox/record.hpp"

#include <set>

#include <gtest/gtest.h>

#include "acemq/error.hpp"
#include "acemq/testing/manual_clock.hpp"

namespace {

using namespace acemq;
using outbox::Record;
using outbox::record;
using outbox::RecordOptions;

// The field that is refused, or "".
std::string refused(auto&& make) {
  try {
    make();
    return "";
  } catch (const InvalidRecord& error) {
    return error.field();
  }
}

class RecordTest : public ::testing::Test {
 protected:
  acemq::testing::ManualClock clock_;
  const MessageFactory shop_{{.origin = "shop@web-1", .clock = &clock_}};

  std::string refused_with(RecordOptions options) const {
    return refused([&] { record(shop_, "{}", std::move(options)); });
  }
};

// Every field of a record comes from where the contract says.
TEST_F(RecordTest, HasEverythingThatARowNeeds) {
  const Record made = record(shop_, R"({"order":"A-1"})",
                             {.to = "order.placed",
                              .exchange = "shop-events",
                              .type = "order.placed.v2",
                              .version = 2,
                              .id = "A-1",
                              .correlation = "corr-1",
                              .causation = "cause-1",
                              .headers = {{"tenant", "acme"}}});
  EXPECT_EQ(made.id, "A-1");
  EXPECT_EQ(made.exchange, "shop-events");
  EXPECT_EQ(made.routing_key, "order.placed");
  EXPECT_EQ(made.content_type, "application/json");
  EXPECT_EQ(made.body, R"({"order":"A-1"})");
  EXPECT_EQ(made.created_at, clock_.now());
  EXPECT_EQ(made.headers, Headers({{"x-acemq-id", "A-1"},
                                   {"x-acemq-type", "order.placed.v2"},
                                   {"x-acemq-version", 2},
                                   {"x-acemq-correlation", "corr-1"},
                                   {"x-acemq-attempt", 1},
                                   {"x-acemq-first-seen", 1'767'323'045'678},
                                   {"x-acemq-causation", "cause-1"},
                                   {"x-acemq-origin", "shop@web-1"},
                                   {"tenant", "acme"}}));
}

// The routing key is the type, the id the correlation, when nothing else is said; the id is new each time.
TEST_F(RecordTest, FillsInWhatIsNotSaid) {
  const Record one = record(shop_, "1", {.to = "queue"}), two = record(shop_, "1", {.to = "queue"});
  EXPECT_EQ(*one.headers.find("x-acemq-type"), HeaderValue("queue"));
  EXPECT_EQ(*one.headers.find("x-acemq-correlation"), HeaderValue(one.id));
  EXPECT_EQ(*one.headers.find("x-acemq-id"), HeaderValue(one.id));
  EXPECT_NE(one.id, two.id);
}

// Messages of equal content are different messages: ten ids, and times that rise in the order of making on a clock that stands.
TEST_F(RecordTest, B16_IdenticalMessagesStayApart) {
  std::set<std::string> ids;
  Timestamp last;
  for (int i = 0; i < 10; ++i) {
    const Record made = record(shop_, "{}", {.to = "k", .exchange = "e"});
    ids.insert(made.id);
    EXPECT_GT(made.created_at, last);
    last = made.created_at;
  }
  EXPECT_EQ(ids.size(), 10U);
}

// A whole envelope stands in for the fields; what it leaves open is filled in, what it says is kept.
TEST_F(RecordTest, TakesAnEnvelope) {
  const Envelope given{
      .id = "E-1", .type = "t", .attempt = 3, .first_seen_ms = 5, .origin = "other@host", .error = "why", .claim = "c"};
  const Record kept = record(shop_, "{}", {.to = "k", .exchange = "e", .envelope = given});
  EXPECT_EQ(kept.id, "E-1");
  EXPECT_EQ(kept.headers, render(given, "k"));
  const Record filled = record(shop_, "{}", {.to = "k", .envelope = Envelope{}});
  EXPECT_EQ(filled.id.size(), 36U);
  EXPECT_EQ(*filled.headers.find("x-acemq-origin"), HeaderValue("shop@web-1"));
  EXPECT_EQ(*filled.headers.find("x-acemq-first-seen"), HeaderValue(1'767'323'045'678));
}

// An envelope and one of its fields together leave open which one counts; the error names both.
TEST_F(RecordTest, RefusesAnEnvelopeBesideItsFields) {
  try {
    record(shop_, "{}", {.to = "k", .type = "t", .headers = {{"a", 1}}, .envelope = Envelope{}});
    FAIL() << "accepted";
  } catch (const InvalidRecord& error) {
    EXPECT_EQ(error.field(), "envelope");
    EXPECT_NE(error.rule().find("type, headers"), std::string::npos);
  }
  EXPECT_EQ(refused_with({.to = "k", .version = 2, .envelope = Envelope{}}), "envelope");
  EXPECT_EQ(refused_with({.to = "k", .id = "1", .envelope = Envelope{}}), "envelope");
  EXPECT_EQ(refused_with({.to = "k", .correlation = "1", .envelope = Envelope{}}), "envelope");
  EXPECT_EQ(refused_with({.to = "k", .causation = "1", .envelope = Envelope{}}), "envelope");
}

// Each string is checked under the name that the caller gave it.
TEST_F(RecordTest, B40_B41_NamesTheFieldThatIsTooLong) {
  const std::string long_text(256, 'x');
  EXPECT_EQ(refused_with({.to = long_text}), "to");
  EXPECT_EQ(refused_with({.to = "k", .exchange = long_text}), "exchange");
  EXPECT_EQ(refused_with({.to = "k", .type = long_text}), "type");
  EXPECT_EQ(refused_with({.to = "k", .id = std::string(65, 'x')}), "id");
  EXPECT_EQ(refused_with({.to = "k", .correlation = long_text}), "correlation");
  EXPECT_EQ(refused_with({.to = "k", .causation = long_text}), "causation");
  EXPECT_EQ(refused_with({.to = "k", .headers = {{long_text, 1}}}), "headers");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.origin = long_text}}), "origin");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.error = "\xff"}}), "error");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.claim = "\xff"}}), "claim");
  EXPECT_EQ(refused([&] { record(shop_, "", {.to = "k"}, BytesCodec{long_text}); }), "content_type");
  EXPECT_EQ(refused_with({.to = std::string(255, 'x'), .exchange = std::string(255, 'x')}), "");
}

// Without an exchange the routing key names the queue, so there must be one.
TEST_F(RecordTest, MustGoSomewhere) {
  EXPECT_EQ(refused_with({}), "to");
  EXPECT_EQ(refused_with({.exchange = "fanout"}), "");
}

// Reserved names, and what RabbitMQ or a table would refuse, are refused here.
TEST_F(RecordTest, B28_RefusesHeadersThatWouldFailLater) {
  EXPECT_EQ(refused_with({.to = "k", .headers = {{"x-acemq-id", "1"}}}), "headers");
  EXPECT_EQ(refused_with({.to = "k", .headers = {{"CC", "a.b"}}}), "headers");
  EXPECT_EQ(refused_with({.to = "k", .headers = {{"a", std::string(121 * 1024, 'x')}}}), "headers");
}

// Half a route would be dropped by a reader.
TEST_F(RecordTest, RefusesHalfARoute) {
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.route = Route{.steps = "a"}}}), "route");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.route = Route{.id = "1"}}}), "route");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.route = Route{.steps = "a", .position = -1, .id = "1"}}}), "route");
  EXPECT_EQ(refused_with({.to = "k", .envelope = Envelope{.route = Route{.steps = "a", .id = "1"}}}), "");
}

// A body of exactly the limit passes; one more byte does not.
TEST_F(RecordTest, B42_BodyLimitIsExact) {
  const MessageFactory small({.body_bytes_max = 4});
  EXPECT_EQ(record(small, "1234", {.to = "k"}).body, "1234");
  EXPECT_EQ(refused([&] { record(small, "12345", {.to = "k"}); }), "body");
}

// The hook adds trace context to every message; what it adds is checked like the rest, and it may refuse.
TEST_F(RecordTest, HookAddsTraceContext) {
  const MessageFactory traced({.decorate = [](Headers& headers) { headers.set("traceparent", "00-1"); }});
  EXPECT_EQ(*record(traced, "{}", {.to = "k"}).headers.find("traceparent"), HeaderValue("00-1"));
  const MessageFactory rude({.decorate = [](Headers& headers) { headers.set("x-acemq-id", "2"); }});
  EXPECT_EQ(refused([&] { record(rude, "{}", {.to = "k"}); }), "headers");
  const MessageFactory strict({.decorate = [](Headers&) { throw std::runtime_error("no tenant"); }});
  EXPECT_THROW(record(strict, "{}", {.to = "k"}), std::runtime_error);
}

// A codec for one record leaves the factory's alone; what a codec refuses is refused.
TEST_F(RecordTest, UsesTheGivenCodec) {
  EXPECT_EQ(record(shop_, "plain", {.to = "k"}, TextCodec{}).content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(refused([&] { record(shop_, "plain", {.to = "k"}); }), "payload");
  const BasicMessageFactory<BytesCodec> images({}, BytesCodec{"image/png"});
  EXPECT_EQ(record(images, std::string("\x89PNG"), {.to = "k"}).content_type, "image/png");
}

// A record put together by hand is held to the same rules.
TEST(CheckRecord, HoldsHandMadeRecordsToTheRules) {
  const Record good{.id = "1",
                    .exchange = "",
                    .routing_key = "k",
                    .content_type = "",
                    .headers = {{"x-acemq-id", "1"}},
                    .body = "",
                    .created_at = {}};
  EXPECT_NO_THROW(outbox::check(good));
  const auto broken = [&good](auto&& change) {
    Record record = good;
    change(record);
    return refused([&] { outbox::check(record); });
  };
  EXPECT_EQ(broken([](Record& r) { r.id = ""; }), "id");
  EXPECT_EQ(broken([](Record& r) { r.exchange = std::string(256, 'e'); }), "exchange");
  EXPECT_EQ(broken([](Record& r) { r.routing_key = ""; }), "routing_key");
  EXPECT_EQ(broken([](Record& r) { r.content_type = "\xff"; }), "content_type");
  EXPECT_EQ(broken([](Record& r) { r.headers.set("a", "\xff"); }), "headers");
  EXPECT_EQ(broken([](Record& r) { r.headers.set("x-acemq-id", "2"); }), "headers");
  EXPECT_EQ(broken([](Record& r) { r.headers.set("a", std::string(121 * 1024, 'x')); }), "headers");
}

}  // namespace
