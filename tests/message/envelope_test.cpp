#include "acemq/envelope.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "message/headers_json.hpp"

namespace {

using acemq::Envelope;
using acemq::Headers;
using acemq::HeaderValue;
using acemq::render;
using acemq::Timestamp;

constexpr std::int64_t kNowMs = 1'800'000'000'123;

Envelope read(const Headers& headers) {
  return acemq::read_envelope(headers, {.message_id = "property-id",
                                        .routing_key = "the.key",
                                        .now = Timestamp(std::chrono::milliseconds(kNowMs)),
                                        .new_id = "fresh-id"});
}

std::string names(const Headers& headers) {
  std::string all;
  for (const auto& [name, value] : headers) all += name + " ";
  return all;
}

Envelope full() {
  return {.id = "11111111-2222-3333-4444-555555555555",
          .type = "order.placed",
          .version = 3,
          .correlation = "corr-1",
          .attempt = 2,
          .first_seen_ms = 1'767'323'045'678,
          .causation = "cause-1",
          .origin = "orders@host-7",
          .error = "exhausted 5 attempts: Timeout: slow",
          .claim = "claims/1",
          .route = acemq::Route{.steps = "bill,ship", .position = 1, .id = "run-1"},
          .headers = {{"x-tenant", "acme"}, {"priority", 5}}};
}

// A message that says nothing of itself carries exactly the headers that every sibling writes for it.
TEST(Envelope, MinimalCarriesWhatEverySiblingWrites) {
  const Headers headers =
      render({.id = "f67aff08-6293-4ce2-af9e-1b8797fb8451", .first_seen_ms = 1'788'968'630'038, .origin = "acemq@web.local"},
             "fx.plain");
  EXPECT_EQ(headers, Headers({{"x-acemq-attempt", 1},
                              {"x-acemq-correlation", "f67aff08-6293-4ce2-af9e-1b8797fb8451"},
                              {"x-acemq-first-seen", 1'788'968'630'038},
                              {"x-acemq-id", "f67aff08-6293-4ce2-af9e-1b8797fb8451"},
                              {"x-acemq-origin", "acemq@web.local"},
                              {"x-acemq-type", "fx.plain"},
                              {"x-acemq-version", 1}}));
}

// Every field has its header, in the family's order, application headers last.
TEST(Envelope, RendersEveryFieldInTheFamilysOrder) {
  EXPECT_EQ(
      acemq::message::to_json(render(full(), "the.key")),
      R"({"x-acemq-id":"11111111-2222-3333-4444-555555555555","x-acemq-type":"order.placed","x-acemq-version":3,)"
      R"("x-acemq-correlation":"corr-1","x-acemq-attempt":2,"x-acemq-first-seen":1767323045678,"x-acemq-causation":"cause-1",)"
      R"("x-acemq-origin":"orders@host-7","x-acemq-error":"exhausted 5 attempts: Timeout: slow","x-acemq-claim":"claims/1",)"
      R"("x-acemq-route":"bill,ship","x-acemq-route-position":1,"x-acemq-route-id":"run-1","x-tenant":"acme","priority":5})");
}

// Absent fields have no header at all, never an empty one; the type is the routing key's, and never empty.
TEST(Envelope, LeavesAbsentFieldsOut) {
  EXPECT_EQ(names(render({.id = "1"}, "k")),
            "x-acemq-id x-acemq-type x-acemq-version x-acemq-correlation x-acemq-attempt x-acemq-first-seen ");
  EXPECT_EQ(*render({.id = "1"}, "k").find("x-acemq-type"), HeaderValue("k"));
  EXPECT_EQ(*render({.id = "1"}, "").find("x-acemq-type"), HeaderValue("message"));
}

// Version and attempt start at 1 on both sides; half a route is no route.
TEST(Envelope, NormalisesWhatIsOutOfRange) {
  const Headers headers = render({.id = "1", .version = 0, .attempt = -3, .route = acemq::Route{.steps = "a"}}, "k");
  EXPECT_EQ(*headers.find("x-acemq-version"), HeaderValue(1));
  EXPECT_EQ(*headers.find("x-acemq-attempt"), HeaderValue(1));
  EXPECT_EQ(headers.find("x-acemq-route"), nullptr);
  EXPECT_EQ(read({{"x-acemq-version", 0}, {"x-acemq-attempt", -1}}).version, 1);
  EXPECT_EQ(read({{"x-acemq-version", 0}, {"x-acemq-attempt", -1}}).attempt, 1);
}

// The envelope's names belong to the envelope: one among the application's headers cannot shadow it.
TEST(Envelope, ApplicationCannotShadowTheEnvelope) {
  EXPECT_EQ(names(render({.id = "1", .headers = {{"x-acemq-id", "2"}, {"x-acemq-new", "3"}, {"a", 1}}}, "k")).find("new"),
            std::string::npos);
}

// What was rendered reads back the same.
TEST(Envelope, RoundTrips) { EXPECT_EQ(read(render(full(), "other.key")), full()); }

// A replayed message's own headers are ordinary ones and survive the reader.
TEST(Envelope, ReplayHeadersAreTheApplications) {
  const Envelope envelope = read({{"x-acemq-id", "1"},
                                  {"acemq-replay-count", 2},
                                  {"acemq-replayed-at", "2026-02-03T04:05:06Z"},
                                  {"acemq-replayed-from", "orders.new.dlq"}});
  EXPECT_EQ(envelope.headers.size(), 3U);
}

// Without headers the AMQP property and the routing key stand in; without the property a fresh id does; first seen is now,
// since 1970 would exhaust every age limit.
TEST(Envelope, MissingHeadersHaveDefaults) {
  const Envelope envelope = read({});
  EXPECT_EQ(envelope, (Envelope{.id = "property-id", .type = "the.key", .correlation = "property-id", .first_seen_ms = kNowMs}));
  EXPECT_EQ(acemq::read_envelope({}, {.message_id = {}, .routing_key = "k", .now = {}, .new_id = "fresh-id"}).id, "fresh-id");
}

// A number arrives as any width, as the doubles that one relay makes of everything, or as decimal text.
TEST(Envelope, NumbersAreReadInEveryForm) {
  for (const HeaderValue& value : {HeaderValue(7), HeaderValue(7.0), HeaderValue("7")}) {
    const Envelope envelope = read({{"x-acemq-attempt", value}, {"x-acemq-version", value}, {"x-acemq-first-seen", value}});
    EXPECT_EQ(envelope.attempt, 7);
    EXPECT_EQ(envelope.version, 7);
    EXPECT_EQ(envelope.first_seen_ms, 7);
  }
  EXPECT_EQ(read({{"x-acemq-first-seen", 1767323045678.0}}).first_seen_ms, 1'767'323'045'678);
}

// An unreadable number becomes its default, never an exception; so does one that does not fit.
TEST(Envelope, UnreadableNumbersBecomeDefaults) {
  using Real = std::numeric_limits<double>;
  for (const HeaderValue& value : {HeaderValue("seven"), HeaderValue("7 "), HeaderValue(""), HeaderValue(7.5), HeaderValue(1e300),
                                   HeaderValue(Real::quiet_NaN()), HeaderValue(nullptr), HeaderValue(true),
                                   HeaderValue(acemq::HeaderList{7}), HeaderValue("99999999999999999999")}) {
    const Envelope envelope = read({{"x-acemq-attempt", value}, {"x-acemq-first-seen", value}});
    EXPECT_EQ(envelope.attempt, 1);
    EXPECT_EQ(envelope.first_seen_ms, kNowMs);
  }
  EXPECT_EQ(read({{"x-acemq-version", 4'294'967'297}}).version, 1);
  EXPECT_EQ(read({{"x-acemq-first-seen", 9223372036854775808.0}}).first_seen_ms, kNowMs);
  EXPECT_EQ(read({{"x-acemq-first-seen", -9223372036854775808.0}}).first_seen_ms, std::numeric_limits<std::int64_t>::min());
}

// An id sent as a number is still an id; anything else is as good as absent.
TEST(Envelope, TextIsReadTolerantly) {
  EXPECT_EQ(read({{"x-acemq-id", 42}}).id, "42");
  EXPECT_EQ(read({{"x-acemq-id", ""}}).id, "property-id");
  EXPECT_EQ(read({{"x-acemq-id", nullptr}}).id, "property-id");
  EXPECT_EQ(read({{"x-acemq-type", acemq::HeaderList{}}}).type, "the.key");
}

// A route has all three parts, or there is none.
TEST(Envelope, RouteIsReadWholeOrNotAtAll) {
  Headers headers{{"x-acemq-route", "a,b"}, {"x-acemq-route-position", "1"}, {"x-acemq-route-id", "run"}};
  EXPECT_EQ(read(headers).route, (acemq::Route{.steps = "a,b", .position = 1, .id = "run"}));
  headers.set("x-acemq-route-position", "one");
  EXPECT_EQ(read(headers).route, std::nullopt);
  headers.set("x-acemq-route-position", 0);
  headers.erase("x-acemq-route-id");
  EXPECT_EQ(read(headers).route, std::nullopt);
}

// A field that a later version invents is dropped rather than passed on as the application's.
TEST(Envelope, UnknownReservedHeadersAreDropped) {
  EXPECT_EQ(read({{"x-acemq-future", 1}, {"traceparent", "00-1"}}).headers, Headers({{"traceparent", "00-1"}}));
}

}  // namespace
