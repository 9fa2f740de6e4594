#include "acemq/headers.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "acemq/error.hpp"

namespace {

using acemq::HeaderList;
using acemq::Headers;
using acemq::HeaderValue;

// Each C++ type becomes the kind that travels, and reads back as that kind only.
TEST(HeaderValue, KeepsItsKind) {
  EXPECT_TRUE(HeaderValue().is_null());
  EXPECT_TRUE(HeaderValue(nullptr).is_null());
  EXPECT_EQ(*HeaderValue(true).as_bool(), true);
  EXPECT_EQ(*HeaderValue(5).as_int(), 5);
  EXPECT_EQ(*HeaderValue(std::uint8_t{200}).as_int(), 200);
  EXPECT_EQ(*HeaderValue(1.0).as_double(), 1.0);
  EXPECT_EQ(*HeaderValue("text").as_string(), "text");
  EXPECT_EQ(*HeaderValue(std::string_view("view")).as_string(), "view");
  EXPECT_EQ(HeaderValue(HeaderList{1, "two"}).as_list()->size(), 2U);
  EXPECT_EQ(HeaderValue(Headers{{"a", 1}}).as_table()->size(), 1U);
  EXPECT_EQ(HeaderValue(1).as_double(), nullptr);
  EXPECT_EQ(HeaderValue(true).as_int(), nullptr);
  EXPECT_EQ(HeaderValue("1").as_int(), nullptr);
}

// An unsigned value that no signed 64 bits hold is refused when given, instead of arriving negative or as a double.
TEST(HeaderValue, B43_UnsignedBeyondInt64IsRefused) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*HeaderValue(kMax).as_int(), std::numeric_limits<std::int64_t>::max());
  try {
    const HeaderValue refused(kMax + 1);
    FAIL() << "accepted";
  } catch (const acemq::InvalidRecord& error) {
    EXPECT_EQ(error.field(), "headers");
    EXPECT_EQ(error.value(), "9223372036854775808");
    EXPECT_TRUE(error.answers().record_at_fault);
  }
}

// set() keeps the place of a name and changes its value; names stay in the order of their first set.
TEST(Headers, KeepFirstOrderAndLastValue) {
  Headers headers{{"b", 1}, {"a", 2}, {"b", 3}};
  headers.set("c", 4);
  headers.set("a", 5);
  std::string names;
  for (const auto& [name, value] : headers) names += name + std::to_string(*value.as_int());
  EXPECT_EQ(names, "b3a5c4");
}

// find() and erase() tell whether the name was there.
TEST(Headers, FindAndErase) {
  Headers headers{{"a", 1}};
  headers.append_unique("b", 2);
  ASSERT_NE(headers.find("b"), nullptr);
  EXPECT_EQ(*headers.find("b")->as_int(), 2);
  EXPECT_EQ(headers.find("c"), nullptr);
  EXPECT_TRUE(headers.erase("a"));
  EXPECT_FALSE(headers.erase("a"));
  EXPECT_EQ(headers.size(), 1U);
  EXPECT_FALSE(headers.empty());
}

// Order carries no meaning at any depth, while kinds, values and the order of a list do.
TEST(Headers, EqualInAnyOrder) {
  const Headers one{{"a", 1}, {"t", Headers{{"x", true}, {"y", nullptr}}}};
  const Headers two{{"t", Headers{{"y", nullptr}, {"x", true}}}, {"a", 1}};
  EXPECT_EQ(one, two);
  EXPECT_NE(one, Headers({{"a", 1}}));
  EXPECT_NE(Headers({{"a", 1}}), Headers({{"a", 1.0}}));
  EXPECT_NE(Headers({{"a", 1}}), Headers({{"b", 1}}));
  EXPECT_NE(Headers({{"l", HeaderList{1, 2}}}), Headers({{"l", HeaderList{2, 1}}}));
}

// Copies are deep and a moved-from table can be used again.
TEST(Headers, CopyAndMove) {
  Headers original{{"t", Headers{{"x", 1}}}};
  Headers copy = original;
  copy.set("t", 2);
  EXPECT_NE(original.find("t")->as_table(), nullptr);
  const Headers moved = std::move(original);
  EXPECT_EQ(moved.size(), 1U);
  original = moved;
  EXPECT_EQ(original, moved);
}

}  // namespace
