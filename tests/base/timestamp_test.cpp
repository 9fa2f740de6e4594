#include "base/timestamp.hpp"

#include <chrono>
#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace {

using acemq::Timestamp;
using acemq::base::format_iso;
using acemq::base::format_rails;
using acemq::base::parse_timestamp;
using std::chrono::microseconds;

Timestamp at(std::int64_t micros) { return Timestamp(microseconds(micros)); }

// Every form that a sibling writes, from the shared data.
TEST(Timestamp, ReadsEveryFormOfTheFamily) {
  std::ifstream file(ACEMQ_TEST_DATA "/derived-outbox-rows.json");
  const auto data = nlohmann::json::parse(file);
  ASSERT_GE(data["timestamps"].size(), 13U);
  for (const auto& form : data["timestamps"]) {
    const std::string text = form.contains("text") ? form["text"].get<std::string>() : form["integer"].dump();
    EXPECT_EQ(parse_timestamp(text), at(form["micros"].get<std::int64_t>())) << text;
  }
}

// Offsets in all their spellings, on both sides of Greenwich and across midnight.
TEST(Timestamp, SubtractsOffsets) {
  const Timestamp expected = at(1'767'323'045'678'901);
  for (const char* text : {"2026-01-02T08:34:05.678901+05:30", "2026-01-02T08:34:05.678901+0530", "2026-01-01 22:04:05.678901-05",
                           "2026-01-01 22:04:05.678901 -0500 UTC", "2026-01-02 03:04:05.678901 +0000"}) {
    EXPECT_EQ(parse_timestamp(text), expected) << text;
  }
}

// Nothing is guessed: near misses are no time at all.
TEST(Timestamp, RefusesAnythingElse) {
  for (const char* text : {"",
                           "now",
                           "2026-01-02",
                           "2026-01-02T",
                           "2026-01-02T03:04",
                           "2026-13-02T03:04:05Z",
                           "2026-02-30T03:04:05Z",
                           "2025-02-29 03:04:05",
                           "2026-01-02T24:00:00Z",
                           "2026-01-02T03:60:05Z",
                           "2026-01-02T03:04:60Z",
                           "2026-01-02t03:04:05z",
                           "2026-01-02T03:04:05.Z",
                           "2026-01-02T03:04:05.1234567890Z",
                           "2026-01-02T03:04:05Z ",
                           " 2026-01-02T03:04:05Z",
                           "2026-01-02T03:04:05+",
                           "2026-01-02T03:04:05+5",
                           "2026-01-02T03:04:05+24",
                           "2026-01-02T03:04:05+01:",
                           "2026-01-02T03:04:05+01:60",
                           "2026-01-02T03:04:05 UTC",
                           "02.01.2026 03:04:05",
                           "2026-1-2 03:04:05",
                           "infinity",
                           "1767323045.5",
                           "+5",
                           "9999999999999999999",
                           "9223372036854775807"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_timestamp(std::string("2026-01-02T03:04:05Z\0", 21)), std::nullopt);
}

// Both forms have a fixed width, which is what makes comparing them as text right, before 1970 too.
TEST(Timestamp, WritesFixedWidth) {
  EXPECT_EQ(format_iso(at(1'767'323'045'678'901)), "2026-01-02T03:04:05.678901Z");
  EXPECT_EQ(format_rails(at(1'767'323'045'678'901)), "2026-01-02 03:04:05.678901");
  EXPECT_EQ(format_iso(at(0)), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_iso(at(-1)), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(format_iso(at(5)), "1970-01-01T00:00:00.000005Z");
}

// The text has room for four digits of year; what lies beyond is cut to the nearest that fits, and still sorts right.
TEST(Timestamp, CutsYearsThatDoNotFit) {
  EXPECT_EQ(format_iso(Timestamp::min()), "0000-01-01T00:00:00.000000Z");
  EXPECT_EQ(format_rails(Timestamp::max()), "9999-12-31 23:59:59.999999");
}

// Any instant of those years comes back from both forms, and the order of texts is the order of instants.
RC_GTEST_PROP(Timestamp, RoundTripsAndSorts, ()) {
  const auto instant = rc::gen::inRange<std::int64_t>(-62'167'219'200'000'000, 253'402'300'800'000'000);
  const Timestamp a = at(*instant), b = at(*instant);
  RC_ASSERT(parse_timestamp(format_iso(a)) == a);
  RC_ASSERT(parse_timestamp(format_rails(a)) == a);
  RC_ASSERT((format_iso(a) < format_iso(b)) == (a < b));
  RC_ASSERT((format_rails(a) < format_rails(b)) == (a < b));
}

}  // namespace
