#include "message/limits.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "acemq/error.hpp"
#include "message/headers_json.hpp"

namespace {

using namespace acemq::message;
using namespace std::string_literals;
using acemq::HeaderList;
using acemq::Headers;
using acemq::HeaderValue;
using acemq::InvalidRecord;

// The refusal of `check`, or "accepted".
std::string refusal(auto&& check) {
  try {
    check();
    return "accepted";
  } catch (const InvalidRecord& error) {
    EXPECT_TRUE(error.answers().record_at_fault);
    EXPECT_FALSE(error.answers().try_again);
    return error.what();
  }
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

// 255 bytes pass, one more does not, and the error says which field and how many bytes.
TEST(Limits, B40_ShortStringsEndAt255Bytes) {
  EXPECT_NO_THROW(check_short_string("to", std::string(255, 'k')));
  EXPECT_NO_THROW(check_short_string("to", ""));
  for (const std::size_t bytes : {256U, 300U}) {
    const std::string what = refusal([&] { check_short_string("to", std::string(bytes, 'k')); });
    EXPECT_NE(what.find("to must have at most 255 bytes, not " + std::to_string(bytes)), std::string::npos) << what;
    EXPECT_LT(what.size(), 250U);
  }
  EXPECT_NO_THROW(check_headers({{std::string(255, 'n'), 1}}));
  EXPECT_NE(refusal([] { check_headers({{std::string(256, 'n'), 1}}); }).find("not 256"), std::string::npos);
}

// Few characters can be too many bytes, and a cut within a character is no text.
TEST(Limits, B41_LimitIsBytesNotCharacters) {
  EXPECT_NO_THROW(check_short_string("exchange", repeat("\xc3\xa9", 127)));
  EXPECT_NE(refusal([] { check_short_string("exchange", repeat("\xc3\xa9", 128)); }), "accepted");
  EXPECT_NE(refusal([] { check_short_string("exchange", repeat("\xf0\x9f\x98\x80", 64)); }), "accepted");
  EXPECT_NE(refusal([] { check_short_string("exchange", repeat("\xf0\x9f\x98\x80", 64).substr(0, 255)); }), "accepted");
}

// What is no text, or holds a NUL, would fail the caller's insert on PostgreSQL or end early in C strings.
TEST(Limits, B38_NamesAndKeysAreTextWithoutNul) {
  for (const std::string& bad : {"a\0b"s, "\xff\xfe"s, "\xed\xa0\x80"s, "\xc0\x80"s}) {
    EXPECT_NE(refusal([&] { check_short_string("exchange", bad); }), "accepted");
    EXPECT_NE(refusal([&] { check_id("id", bad); }), "accepted");
    EXPECT_NE(refusal([&] { check_text("error", bad); }), "accepted");
    EXPECT_NE(refusal([&] { check_headers({{bad, 1}}); }), "accepted");
    EXPECT_NE(refusal([&] { check_headers({{"name", bad}}); }), "accepted");
    EXPECT_NE(refusal([&] { check_headers({{"name", HeaderList{Headers{{"deep", bad}}}}}); }), "accepted");
  }
}

// An id is a primary key of 64 characters and an AMQP short string as well.
TEST(Limits, IdsHave1To64Characters) {
  EXPECT_NO_THROW(check_id("id", "1"));
  EXPECT_NO_THROW(check_id("id", repeat("\xc3\xa9", 64)));
  EXPECT_NE(refusal([] { check_id("id", ""); }), "accepted");
  EXPECT_NE(refusal([] { check_id("id", std::string(65, 'x')); }), "accepted");
  EXPECT_NE(refusal([] { check_id("id", repeat("\xf0\x9f\x98\x80", 64)); }), "accepted") << "256 bytes";
}

// Nesting ends at 32 tables and lists, the outermost table among them.
TEST(Limits, NestingEndsAt32) {
  Headers tables{{"leaf", 1}};
  for (int depth = 2; depth <= 32; ++depth) tables = Headers{{"t", tables}};
  EXPECT_NO_THROW(check_headers(tables));
  EXPECT_NE(refusal([&] { check_headers({{"t", tables}}); }).find("32"), std::string::npos);

  HeaderValue lists = HeaderList{};
  for (int depth = 3; depth <= 32; ++depth) lists = HeaderList{lists};
  EXPECT_NO_THROW(check_headers({{"l", lists}}));
  EXPECT_NE(refusal([&] { check_headers({{"l", HeaderList{lists}}}); }), "accepted");
}

// No JSON reader takes them, and RabbitMQ's consumers disagree.
TEST(Limits, NumbersAreFinite) {
  using Real = std::numeric_limits<double>;
  EXPECT_NO_THROW(check_headers({{"n", Real::max()}, {"d", Real::denorm_min()}}));
  for (const double bad : {Real::quiet_NaN(), Real::infinity(), -Real::infinity()}) {
    const std::string what = refusal([&] { check_headers({{"ratio", HeaderList{bad}}}); });
    EXPECT_NE(what.find("ratio"), std::string::npos) << what;
  }
  EXPECT_NE(refusal([] { check_headers({{"ratio", -Real::infinity()}}); }).find("-infinity"), std::string::npos);
}

// RabbitMQ closes the channel for a CC or BCC that is not a list of strings, and takes the neighbours along.
TEST(Limits, B28_CopyHeadersAreListsOfStrings) {
  EXPECT_NO_THROW(check_headers({{"CC", HeaderList{"a.b", "c"}}, {"BCC", HeaderList{}}}));
  EXPECT_NO_THROW(check_headers({{"cc", "other names are free"}}));
  for (const char* name : {"CC", "BCC"}) {
    for (const HeaderValue& bad : {HeaderValue("a.b"), HeaderValue(1), HeaderValue(nullptr), HeaderValue(HeaderList{"a", 1})}) {
      const std::string what = refusal([&] { check_headers({{name, bad}}); });
      EXPECT_NE(what.find("list of strings in "s + name), std::string::npos) << what;
    }
  }
}

// All reserved names are listed at once; nested tables and other spellings are the application's own affair.
TEST(Limits, ReservedNamesAreRefusedByName) {
  const std::string what = refusal([] { check_application_headers({{"x-acemq-id", "1"}, {"ok", 1}, {"x-acemq-", "2"}}); });
  EXPECT_NE(what.find("x-acemq-id, x-acemq-"), std::string::npos) << what;
  EXPECT_NO_THROW(check_application_headers({{"x-acemq", 1}, {"acemq-reply-to", "q"}, {"t", Headers{{"x-acemq-id", 1}}}}));
  EXPECT_NE(refusal([] { check_application_headers({{"", 1}}); }), "accepted");
  EXPECT_NE(refusal([] { check_application_headers({{"t", Headers{{"", 1}}}}); }), "accepted");
}

// Both forms of the headers are bounded: many short names weigh more as JSON, control characters too; numbers weigh more on the
// wire.
TEST(Limits, HeadersEndAt120KiBInBothForms) {
  const auto padded_to = [](std::size_t json_bytes) { return Headers{{"p", std::string(json_bytes - 8, 'x')}}; };
  EXPECT_EQ(to_json(padded_to(kHeadersBytesMax)).size(), kHeadersBytesMax);
  EXPECT_NO_THROW(check_headers_size({{"p", std::string(kHeadersBytesMax - 11, 'x')}}));
  EXPECT_NE(refusal([&] { check_headers_size(padded_to(kHeadersBytesMax)); }).find("on the wire"), std::string::npos);
  EXPECT_NE(refusal([] { check_headers_size({{"p", std::string(60'000, '\x01')}}); }).find("as JSON"), std::string::npos);
  EXPECT_NE(refusal([] {
              check_headers_size({{"l", HeaderList(50'000, HeaderValue(1))}});
            }).find("on the wire"),
            std::string::npos);
}

// The bytes on the wire, counted by hand from AMQP 0-9-1 with RabbitMQ's types: a length, then names, kinds and values.
TEST(Limits, CountsTheTableOnTheWire) {
  EXPECT_EQ(amqp_table_bytes({}), 4U);
  const std::pair<HeaderValue, std::size_t> values[] = {{nullptr, 0},       {true, 1},         {1, 4},
                                                        {-2147483648LL, 4}, {2147483648LL, 8}, {0.5, 8},
                                                        {"text", 4 + 4},    {Headers{}, 4},    {HeaderList{1, "a"}, 4 + 5 + 6}};
  for (const auto& [value, bytes] : values) EXPECT_EQ(amqp_table_bytes({{"name", value}}), 4 + 1 + 4 + 1 + bytes);
}

}  // namespace
