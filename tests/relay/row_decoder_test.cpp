// Rows as any sibling, or a fault, may have written them.
#include "relay/row_decoder.hpp"

#include <string>

#include <gtest/gtest.h>

namespace acemq::relay {
namespace {

outbox::Row row_with(std::string body, std::string encoding, std::string headers) {
  return {.id = "id-1",
          .exchange = "x",
          .routing_key = "k",
          .body = std::move(body),
          .body_encoding = std::move(encoding),
          .content_type = "text/plain",
          .headers = std::move(headers)};
}

std::string defect_of(outbox::Row row) {
  std::string defect;
  decode_row(std::move(row), defect);
  return defect;
}

Headers headers_of(const std::string& json) {
  std::string defect;
  Message message = decode_row(row_with("", "utf-8", json), defect);
  EXPECT_EQ(defect, "") << json;
  return message.headers;
}

// Body bytes come out as they went in: text verbatim, base64 decoded, both without a codec in between.
TEST(RowDecoder, BodiesVerbatim) {
  std::string defect;
  EXPECT_EQ(decode_row(row_with("{\"a\":1}", "utf-8", "{}"), defect).body, "{\"a\":1}");
  EXPECT_EQ(decode_row(row_with("/wAB", "base64", "{}"), defect).body, std::string("\xff\x00\x01", 3));
  EXPECT_EQ(decode_row(row_with("", "utf-8", ""), defect).body, "");
  EXPECT_EQ(defect, "");
}

// What cannot be decoded is named, never guessed; who it was stays known.
TEST(RowDecoder, DefectsAreNamed) {
  EXPECT_EQ(defect_of(row_with("/wA", "base64", "{}")), "body is not valid base64");
  EXPECT_EQ(defect_of(row_with("x", "gzip", "{}")), "body_encoding is neither utf-8 nor base64 but 'gzip'");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "{\"a\":")), "headers: not JSON at byte 6");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "[1]")), "headers: not a JSON object");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "{\"a\":NaN}")), "headers: not JSON at byte 6");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "{\"a\":18446744073709551615}")), "headers: an integer beyond 64 bits");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "{\"a\":-9223372036854775809}")), "headers: an integer beyond 64 bits");
  EXPECT_EQ(defect_of(row_with("", "utf-8", "{\"a\":1e400}")), "headers: not JSON at byte 10");
  std::string defect;
  EXPECT_EQ(decode_row(row_with("x", "gzip", "{}"), defect).message_id, "id-1");
}

// B40: a row that another program inserted with names over AMQP's limit is refused alone.
TEST(RowDecoder, B40_NamesOverTheLimitOfAmqp) {
  outbox::Row row = row_with("", "utf-8", "{}");
  row.routing_key = std::string(256, 'k');
  EXPECT_NE(defect_of(std::move(row)).find("routing_key"), std::string::npos);
}

// Integers stay integers and doubles stay doubles, whatever writes them (trap 12).
TEST(RowDecoder, NumbersKeepTheirKind) {
  const Headers headers = headers_of(R"({"i":5,"n":-1,"max":9223372036854775807,"d":1.0,"e":1e+20,"f":0.5,"t":true,"z":null})");
  ASSERT_NE(headers.find("i")->as_int(), nullptr);
  EXPECT_EQ(*headers.find("n")->as_int(), -1);
  EXPECT_EQ(*headers.find("max")->as_int(), 9223372036854775807);
  EXPECT_EQ(*headers.find("d")->as_double(), 1.0);
  EXPECT_EQ(*headers.find("e")->as_double(), 1e20);
  EXPECT_EQ(*headers.find("f")->as_double(), 0.5);
  EXPECT_TRUE(*headers.find("t")->as_bool());
  EXPECT_TRUE(headers.find("z")->is_null());
}

// Python escapes beyond ASCII, Go escapes < > and &: the same text comes out; the last of repeated names wins.
TEST(RowDecoder, EscapesAndRepeatedNames) {
  EXPECT_EQ(*headers_of(R"({"p":"Z\u00fcrich <a&b>"})").find("p")->as_string(), "Z\xc3\xbcrich <a&b>");
  EXPECT_EQ(*headers_of(R"({"p":"Zürich \u003ca\u0026b\u003e"})").find("p")->as_string(), "Z\xc3\xbcrich <a&b>");
  EXPECT_EQ(*headers_of(R"({"a":1,"b":2,"a":3})").find("a")->as_int(), 3);
  const Headers nested = headers_of(R"({"tags":{"a":[1,"two",null,{"x":[]}]}})");
  EXPECT_EQ(*nested.find("tags"), HeaderValue(Headers{{"a", HeaderList{1, "two", nullptr, Headers{{"x", HeaderList{}}}}}}));
}

// Nesting is bounded before memory is spent on it.
TEST(RowDecoder, NestingIsBounded) {
  const auto nested = [](std::size_t levels) {
    std::string text = "{\"a\":";
    for (std::size_t i = 0; i < levels; ++i) text += '[';
    for (std::size_t i = 0; i < levels; ++i) text += ']';
    return text + "}";
  };
  EXPECT_EQ(defect_of(row_with("", "utf-8", nested(32))), "");
  EXPECT_EQ(defect_of(row_with("", "utf-8", nested(33))), "headers: nested more than 32 levels deep");
  EXPECT_EQ(defect_of(row_with("", "utf-8", nested(1'000'000))), "headers: nested more than 32 levels deep");
}

}  // namespace
}  // namespace acemq::relay
