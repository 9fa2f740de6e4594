// One test per row of the table in DESIGN 5.3, and the waits.
#include "relay/policy.hpp"

#include <initializer_list>

#include <gtest/gtest.h>

namespace acemq::relay {
namespace {

using namespace std::chrono_literals;

constexpr Verdict kRefused{FailureClass::refusal, true, Reaction::lane_waits};
constexpr Verdict kSuspected{FailureClass::suspect, false, Reaction::resend_alone};
constexpr Verdict kDoubted{FailureClass::in_doubt, false, Reaction::resend};
constexpr Verdict kDoubtedOften{FailureClass::in_doubt, false, Reaction::resend_alone};

// What only this record can be blamed for counts, and stops its lane.
TEST(Policy, RefusalsCountAndStopTheLane) {
  for (const Incident incident : {Incident::returned, Incident::undecodable, Incident::over_limit, Incident::missing_exchange})
    EXPECT_EQ(judge(incident, {}), kRefused) << to_words(incident);
}

// A full queue is not the record's fault: its lane waits, and no attempt is spent.
TEST(Policy, NackIsOverloadAndDoesNotCount) {
  EXPECT_EQ(judge(Incident::nacked, {}), (Verdict{FailureClass::overload, false, Reaction::lane_waits}));
}

// Being the only one unconfirmed is what turns a suspicion into a refusal.
TEST(Policy, ChannelClosedConvictsOnlyARecordThatWasAlone) {
  for (const std::uint16_t code : std::initializer_list<std::uint16_t>{403, 404, 406}) {
    EXPECT_EQ(judge(Incident::channel_closed, {.code = code, .alone = true}), kRefused) << code;
    EXPECT_EQ(judge(Incident::channel_closed, {.code = code, .alone = false}), kSuspected) << code;
  }
}

// A code that speaks of no message (a broker in trouble) convicts nobody, alone or not.
TEST(Policy, ChannelClosedWithAnotherCodeLeavesDoubt) {
  EXPECT_EQ(judge(Incident::channel_closed, {.code = 506, .alone = false}), kSuspected);
  EXPECT_EQ(judge(Incident::channel_closed, {.code = 506, .alone = true, .doubts = 1}), kDoubted);
}

// A malformed record kills the connection, which others share: it is suspected, and convicted only when it fails alone between
// neighbours that do not.
TEST(Policy, ConnectionClosedByAMalformedRecord) {
  for (const std::uint16_t code : std::initializer_list<std::uint16_t>{501, 502, 541}) {
    EXPECT_EQ(judge(Incident::connection_closed, {.code = code}), kSuspected) << code;
    EXPECT_EQ(judge(Incident::connection_closed, {.code = code, .alone = true}), kSuspected) << code;
    EXPECT_EQ(judge(Incident::connection_closed, {.code = code, .alone = true, .neighbours_fine = true}), kRefused) << code;
  }
}

// An operator closing connections (320) is an outage for what was in flight: resent, never charged.
TEST(Policy, ConnectionForcedLeavesDoubt) {
  EXPECT_EQ(judge(Incident::connection_closed, {.code = 320, .alone = true, .doubts = 1}), kDoubted);
}

// Three doubts in a row isolate a record; it is charged only when it fails alone between neighbours that do not.
TEST(Policy, DoubtsIsolateAndChargeOnlyWithAControl) {
  for (const Incident incident : {Incident::connection_lost, Incident::confirm_timeout}) {
    EXPECT_EQ(judge(incident, {.doubts = 1}), kDoubted);
    EXPECT_EQ(judge(incident, {.alone = true, .doubts = 2, .neighbours_fine = true}), kDoubted);
    EXPECT_EQ(judge(incident, {.doubts = 3}), kDoubtedOften);
    EXPECT_EQ(judge(incident, {.alone = true, .doubts = 4}), kDoubtedOften);
    EXPECT_EQ(judge(incident, {.alone = true, .doubts = 4, .neighbours_fine = true}),
              (Verdict{FailureClass::in_doubt, true, Reaction::lane_waits}));
  }
}

// No connection, no charge: everything waits.
TEST(Policy, OutagesCostNothing) {
  EXPECT_EQ(judge(Incident::no_connection, {}), (Verdict{FailureClass::outage, false, Reaction::everything_waits}));
  EXPECT_EQ(judge(Incident::blocked, {}), (Verdict{FailureClass::outage, false, Reaction::claiming_pauses}));
  EXPECT_EQ(judge(Incident::store_error, {}), (Verdict{FailureClass::store, false, Reaction::everything_waits}));
}

// The broker's text narrows the suspects where it can, and only then.
TEST(Policy, GuiltFollowsWhatTheBrokerSaid) {
  const Message orders{.exchange = "orders", .routing_key = "k", .body = std::string(17, 'x')};
  const Message other{.exchange = "order", .routing_key = "k", .body = "y"};
  const auto not_found = "NOT_FOUND - no exchange 'orders' in vhost '/'";
  EXPECT_TRUE(may_be_guilty(orders, 404, not_found));
  EXPECT_FALSE(may_be_guilty(other, 404, not_found));
  const auto refused = "ACCESS_REFUSED - access to exchange 'order' in vhost '/' refused for user 'shop'";
  EXPECT_FALSE(may_be_guilty(orders, 403, refused));
  EXPECT_TRUE(may_be_guilty(other, 403, refused));
  const auto size = "PRECONDITION_FAILED - message size 17 is larger than configured max size 16";
  EXPECT_TRUE(may_be_guilty(orders, 406, size));
  EXPECT_FALSE(may_be_guilty(other, 406, size));
  EXPECT_TRUE(may_be_guilty(other, 406, "PRECONDITION_FAILED - invalid CC header"));
  EXPECT_TRUE(may_be_guilty(other, 504, "CHANNEL_ERROR"));
}

// A name that holds a quote does not hide its record, nor blame another.
TEST(Policy, GuiltWithQuotesInTheName) {
  const Message odd{.exchange = "a' in vhost '/", .routing_key = "k"};
  EXPECT_TRUE(may_be_guilty(odd, 404, "NOT_FOUND - no exchange 'a' in vhost '/' in vhost '/'"));
}

TEST(Policy, LaneWaitDoublesUpToAMinute) {
  EXPECT_EQ(lane_wait(1), 1s);
  EXPECT_EQ(lane_wait(2), 2s);
  EXPECT_EQ(lane_wait(6), 32s);
  EXPECT_EQ(lane_wait(7), 60s);
  EXPECT_EQ(lane_wait(4'000'000'000U), 60s);
}

// Jitter only shortens, by a fifth at most.
TEST(Policy, OutageWaitDoublesUpToHalfAMinuteWithJitter) {
  EXPECT_EQ(outage_wait(1, 0), 1s);
  EXPECT_EQ(outage_wait(5, 0), 16s);
  EXPECT_EQ(outage_wait(6, 0), 30s);
  for (std::uint64_t random = 0; random < 20'000; random += 7) {
    EXPECT_GE(outage_wait(6, random), 24s);
    EXPECT_LE(outage_wait(6, random), 30s);
  }
}

}  // namespace
}  // namespace acemq::relay
