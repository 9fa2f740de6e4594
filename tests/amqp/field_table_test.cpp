#include "amqp/wire/field_table.hpp"

#include <cmath>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "amqp/oracle.hpp"

namespace acemq::amqp {
namespace {

using namespace std::string_literals;

std::string encode(const Headers& table) {
  std::string out;
  Writer writer(out);
  write_table(writer, table);
  EXPECT_EQ(writer.error(), "");
  return out;
}

std::string error_of(const Headers& table) {
  std::string out;
  Writer writer(out);
  write_table(writer, table);
  return writer.error();
}

std::optional<Headers> decode(std::string_view bytes) {
  Reader reader(bytes);
  Headers table = read_table(reader);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return table;
}

// A table of one field "x" with these bytes after its name.
std::string field(std::string_view type_and_value) {
  const std::string entry = "\x01x" + std::string(type_and_value);
  return oracle::big_endian(entry.size(), 4) + entry;
}

HeaderValue decoded(std::string_view type_and_value) {
  const auto table = decode(field(type_and_value));
  EXPECT_TRUE(table.has_value());
  return table ? table->begin()->value : HeaderValue("malformed");
}

HeaderValue nested_lists(int depth) {
  HeaderValue value = HeaderList{};
  for (int i = 1; i < depth; ++i) value = HeaderList{std::move(value)};
  return value;
}

// Each kind of value takes exactly the type letter and bytes that the family's readers expect (CONTRACT 7.3).
TEST(FieldTable, WritesTheTypesOfTheContract) {
  const auto value = [](const HeaderValue& each) { return encode({{"x", each}}); };
  EXPECT_EQ(value("ab"), field("S\0\0\0\2ab"s));
  EXPECT_EQ(value(5), field("I\0\0\0\5"s));
  EXPECT_EQ(value(-1), field("I\xFF\xFF\xFF\xFF"s));
  EXPECT_EQ(value(INT32_MAX), field("I\x7F\xFF\xFF\xFF"s));
  EXPECT_EQ(value(INT32_MIN), field("I\x80\0\0\0"s));
  EXPECT_EQ(value(std::int64_t{INT32_MAX} + 1), field("l\0\0\0\0\x80\0\0\0"s));
  EXPECT_EQ(value(std::int64_t{INT32_MIN} - 1), field("l\xFF\xFF\xFF\xFF\x7F\xFF\xFF\xFF"s));
  EXPECT_EQ(value(1.0), field("d\x3F\xF0\0\0\0\0\0\0"s));
  EXPECT_EQ(value(true), field("t\1"s));
  EXPECT_EQ(value(false), field("t\0"s));
  EXPECT_EQ(value(nullptr), field("V"));
  EXPECT_EQ(value(Headers{{"y", true}}), field("F\0\0\0\4\1yt\1"s));
  EXPECT_EQ(value(HeaderList{true, "a"}), field("A\0\0\0\10t\1S\0\0\0\1a"s));
}

// Every type that a sibling or another client sends is read; unsigned and other foreign ones become the nearest of ours.
TEST(FieldTable, B43_ReadsEveryTypeAnyClientSends) {
  EXPECT_EQ(decoded("t\2"), HeaderValue(true));
  EXPECT_EQ(decoded("b\xFF"), HeaderValue(-1));
  EXPECT_EQ(decoded("B\xFF"), HeaderValue(255));
  EXPECT_EQ(decoded("s\xFF\xFE"), HeaderValue(-2));
  EXPECT_EQ(decoded("u\xFF\xFE"), HeaderValue(65534));
  EXPECT_EQ(decoded("I\xFF\xFF\xFF\xFD"), HeaderValue(-3));
  EXPECT_EQ(decoded("i\xFF\xFF\xFF\xFD"), HeaderValue(4294967293));
  EXPECT_EQ(decoded("l\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC"), HeaderValue(-4));
  EXPECT_EQ(decoded("L\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC"), HeaderValue(-4));
  EXPECT_EQ(decoded("T\0\0\0\0\x80\0\0\1"s), HeaderValue(2147483649));
  EXPECT_EQ(decoded("T\x80\0\0\0\0\0\0\0"s), HeaderValue(std::ldexp(1.0, 63)));
  EXPECT_EQ(decoded("f\x3F\xC0\0\0"s), HeaderValue(1.5));
  EXPECT_EQ(decoded("d\x3F\xF8\0\0\0\0\0\0"s), HeaderValue(1.5));
  EXPECT_EQ(decoded("D\2\0\0\4\xD2"s), HeaderValue(12.34));
  EXPECT_EQ(decoded("D\1\xFF\xFF\xFF\xF1"s), HeaderValue(-1.5));
  EXPECT_EQ(decoded("S\0\0\0\2\0\xFF"s), HeaderValue("\0\xFF"s));
  EXPECT_EQ(decoded("x\0\0\0\3\0\1\xFF"s), HeaderValue("\0\1\xFF"s));
  EXPECT_EQ(decoded("V"), HeaderValue(nullptr));
  EXPECT_EQ(decoded("F\0\0\0\0"s), HeaderValue(Headers{}));
  EXPECT_EQ(decoded("A\0\0\0\2VV"s), HeaderValue(HeaderList{nullptr, nullptr}));
}

// Values at the edges of their types come through librabbitmq unchanged, in both directions.
TEST(FieldTable, B43_EdgesComeOutAsTheyWentIn) {
  const Headers edges{{"min", INT64_MIN},
                      {"max", INT64_MAX},
                      {"int32", INT32_MAX},
                      {"2038", 2147558400},
                      {"tenth", 0.1},
                      {"tiny", 5e-324},
                      {"huge", 1.7976931348623157e308},
                      {"minus zero", -0.0},
                      {"yes", true},
                      {"void", nullptr},
                      {"deep", nested_lists(5)},
                      {"text", "\xC3\xA9"}};
  EXPECT_EQ(oracle::decode_table(encode(edges)), edges);
  oracle::Pool pool;
  EXPECT_EQ(decode(oracle::encode_table(oracle::to_table(pool, edges))), edges);
}

// An array of tables, as RabbitMQ's own x-death header, and arrays whose encoding passes one and two bytes of length.
TEST(FieldTable, B44_ArraysDeclareTheLengthTheyHave) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{65536}}) {
    const Headers deaths{{"count", 3}, {"queue", std::string(size, 'q')}, {"routing-keys", HeaderList{"a", "b"}}};
    const Headers table{{"x-death", HeaderList{deaths, deaths}}, {"nulls", HeaderList(size)}, {"text", std::string(size, 'x')}};
    EXPECT_EQ(oracle::decode_table(encode(table)), table) << size;
    EXPECT_EQ(decode(encode(table)), table) << size;
  }
}

// Few entries per level, or the trees would be huge; numbers of any size all the same.
constexpr int kEntriesMax = 8;

rc::Gen<HeaderValue> any_value(int depth);

rc::Gen<std::string> any_text() {
  return rc::gen::resize(kEntriesMax, rc::gen::container<std::string>(rc::gen::arbitrary<char>()));
}

rc::Gen<Headers> any_table(int depth) {
  return rc::gen::map(
      rc::gen::resize(kEntriesMax, rc::gen::container<std::map<std::string, HeaderValue>>(any_text(), any_value(depth))),
      [](const std::map<std::string, HeaderValue>& entries) {
        Headers table;
        for (const auto& [name, value] : entries) table.set(name, value);
        return table;
      });
}

rc::Gen<HeaderValue> any_value(int depth) {
  const auto wrap = [](auto value) { return HeaderValue(std::move(value)); };
  const auto leaf = rc::gen::oneOf(rc::gen::just(HeaderValue(nullptr)), rc::gen::map(rc::gen::arbitrary<bool>(), wrap),
                                   rc::gen::map(any_text(), wrap),
                                   rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::int32_t>()), wrap),
                                   rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::int64_t>()), wrap),
                                   rc::gen::map(rc::gen::suchThat(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<double>()),
                                                                  [](double value) { return std::isfinite(value); }),
                                                wrap));
  if (depth == 0) return leaf;
  const auto branch =
      rc::gen::oneOf(rc::gen::map(any_table(depth - 1), wrap),
                     rc::gen::map(rc::gen::resize(kEntriesMax, rc::gen::container<HeaderList>(any_value(depth - 1))), wrap));
  return rc::gen::weightedOneOf<HeaderValue>({{4, leaf}, {1, branch}});
}

// Whatever we write, librabbitmq reads as the same values from exactly the same bytes, and so do we.
RC_GTEST_PROP(FieldTableProperty, B44_WhatWeWriteIsReadBack, ()) {
  const Headers table = *any_table(4);
  const std::string bytes = encode(table);
  RC_ASSERT(oracle::decode_table(bytes) == table);
  RC_ASSERT(decode(bytes) == table);
}

// Whatever librabbitmq writes, we read.
RC_GTEST_PROP(FieldTableProperty, WhatLibrabbitmqWritesIsRead, ()) {
  const Headers table = *any_table(4);
  oracle::Pool pool;
  RC_ASSERT(decode(oracle::encode_table(oracle::to_table(pool, table))) == table);
}

// Bytes that were changed or cut are read as something or refused, never past their end (the sanitizers watch).
RC_GTEST_PROP(FieldTableProperty, DamagedBytesAreHarmless, ()) {
  std::string bytes = encode(*any_table(3));
  const int changes = *rc::gen::inRange(1, 5);
  for (int i = 0; i < changes; ++i) {
    bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
  decode(bytes);
}

// Nothing is read past the end of a table, a list or a string that lies about its size.
TEST(FieldTable, LyingSizesAreMalformed) {
  for (const std::string& bytes :
       {""s, "\0\0\0"s, "\0\0\0\1"s, "\xFF\xFF\xFF\xFF"s, field(""), field("S\0\0\0\5ab"s), field("I\0\0"s),
        field("F\0\0\0\5\1yt\1"s), field("A\0\0\0\2I\0"s), field("A\xFF\xFF\xFF\xFF"s), field("q\0"s), field("F\0\0\0\1\5"s)}) {
    EXPECT_EQ(decode(bytes), std::nullopt);
  }
}

// Nesting is bounded both ways, so that no input can exhaust the stack.
TEST(FieldTable, NestingIsBounded) {
  const Headers deepest{{"x", nested_lists(kFieldNestingMax)}};
  EXPECT_EQ(decode(encode(deepest)), deepest);
  EXPECT_EQ(error_of({{"x", HeaderList{nested_lists(kFieldNestingMax), 1}}}), "");
  HeaderList too_deep;  // compilers differ on what a list in braces around one list is
  too_deep.emplace_back(HeaderList{nested_lists(kFieldNestingMax), 1});
  EXPECT_EQ(error_of({{"x", too_deep}}), "headers nested deeper than 32");
  std::string lists;
  for (int i = 0; i < 10'000; ++i) lists = "A" + oracle::big_endian(lists.size(), 4) + lists;
  EXPECT_EQ(decode(field(lists)), std::nullopt);
}

// AMQP forbids repeated names; the first one counts, and finding that out is not quadratic.
TEST(FieldTable, OfARepeatedNameTheFirstCounts) {
  EXPECT_EQ(decode(oracle::big_endian(8, 4) + "\1xt\1\1xt\0"s), (Headers{{"x", true}}));
  std::string entries;
  for (int i = 0; i < 30'000; ++i) entries += "\5" + oracle::big_endian(static_cast<std::uint64_t>(10'000 + i), 5) + "V";
  const auto table = decode(oracle::big_endian(entries.size(), 4) + entries);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->size(), 30'000U);
}

// What RabbitMQ could not read is refused with a reason: a long name, NaN, infinity.
TEST(FieldTable, RefusesWhatTheBrokerCannotRead) {
  EXPECT_EQ(error_of({{std::string(255, 'n'), 1}}), "");
  EXPECT_EQ(error_of({{std::string(256, 'n'), 1}}), "header name of 256 bytes, at most 255 are possible");
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(error_of({{"x", value}}), "header value that is not a finite number");
  }
}

}  // namespace
}  // namespace acemq::amqp
