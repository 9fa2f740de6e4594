#include "acemq/codec.hpp"

#include <array>

#include <gtest/gtest.h>

#include "acemq/error.hpp"

namespace {

static_assert(acemq::CodecPayload<std::string, acemq::JsonCodec>);
static_assert(acemq::CodecPayload<const char*, acemq::TextCodec>);
static_assert(acemq::CodecPayload<std::array<std::byte, 3>, acemq::BytesCodec>);
static_assert(!acemq::CodecPayload<int, acemq::JsonCodec>);

std::string refusal(auto&& encode) {
  try {
    encode();
    return "accepted";
  } catch (const acemq::InvalidRecord& error) {
    EXPECT_EQ(error.field(), "payload");
    return error.what();
  }
}

// JSON text passes through untouched: keys, spacing and numbers as spelled.
TEST(JsonCodec, LeavesTheTextAlone) {
  const std::string text = "{ \"b\" : 1.0, \"a\":\t[] }";
  EXPECT_EQ(acemq::JsonCodec().encode(text), text);
  EXPECT_EQ(acemq::JsonCodec().content_type(), "application/json");
}

// The error names the byte, and shows nothing of a payload that may hold anything about anybody.
TEST(JsonCodec, NamesTheByteAndHidesThePayload) {
  const std::string what = refusal([] { return acemq::JsonCodec().encode("{\"password\":\"hunter2\""); });
  EXPECT_NE(what.find("byte 21"), std::string::npos) << what;
  EXPECT_EQ(what.find("hunter2"), std::string::npos) << what;
}

// Text must be UTF-8, and may be empty or hold NUL.
TEST(TextCodec, TakesUtf8Only) {
  EXPECT_EQ(acemq::TextCodec().encode(std::string_view("a\0\xc3\xa4", 4)), std::string("a\0\xc3\xa4", 4));
  EXPECT_EQ(acemq::TextCodec().content_type(), "text/plain; charset=utf-8");
  EXPECT_NE(refusal([] { return acemq::TextCodec().encode("ok\xff"); }).find("byte 2"), std::string::npos);
}

// Bytes are bytes, given as text or as a span, under a type of the caller's choice.
TEST(BytesCodec, TakesAnything) {
  const std::array<std::byte, 3> bytes{std::byte{0xff}, std::byte{0}, std::byte{1}};
  EXPECT_EQ(acemq::BytesCodec().encode(bytes), std::string("\xff\0\x01", 3));
  EXPECT_EQ(acemq::BytesCodec().encode(std::string_view("\xff")), "\xff");
  EXPECT_EQ(acemq::BytesCodec().encode(std::span<const std::byte>{}), "");
  EXPECT_EQ(acemq::BytesCodec{"image/png"}.content_type(), "image/png");
}

}  // namespace
