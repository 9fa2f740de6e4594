#include "message/headers_json.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace {

using acemq::HeaderList;
using acemq::Headers;
using acemq::HeaderValue;
using acemq::message::to_json;
using nlohmann::ordered_json;

// Compact, in order, raw UTF-8; every kind of value, empty containers included.
TEST(HeadersJson, WritesEveryKind) {
  const Headers headers{{"text", "Z\xc3\xbcrich <a&b>"},
                        {"number", -5},
                        {"ratio", 0.5},
                        {"vip", true},
                        {"not", false},
                        {"none", nullptr},
                        {"tags", Headers{{"a", HeaderList{1, "two", nullptr}}}},
                        {"empty", HeaderList{}},
                        {"void", Headers{}}};
  EXPECT_EQ(to_json(headers),
            "{\"text\":\"Z\xc3\xbcrich <a&b>\",\"number\":-5,\"ratio\":0.5,\"vip\":true,\"not\":false,\"none\":null,"
            "\"tags\":{\"a\":[1,\"two\",null]},\"empty\":[],\"void\":{}}");
  EXPECT_EQ(to_json({}), "{}");
}

// A double says that it is one, and an integer never looks like a double: readers keep the two apart (CONTRACT 2.2).
TEST(HeadersJson, KeepsIntegersAndDoublesApart) {
  const std::pair<HeaderValue, const char*> cases[] = {{1.0, "1.0"},
                                                       {-0.0, "-0.0"},
                                                       {0.1, "0.1"},
                                                       {1e20, "1e+20"},
                                                       {1e-7, "1e-07"},
                                                       {123456.0, "123456.0"},
                                                       {std::numeric_limits<std::int64_t>::max(), "9223372036854775807"},
                                                       {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(to_json({{"n", value}}), "{\"n\":" + std::string(text) + "}");
}

// What JSON demands to be escaped is, in names too, and nothing else.
TEST(HeadersJson, EscapesWhatItMust) {
  EXPECT_EQ(to_json({{"\"\\/", "\b\t\n\f\r\x01\x1f\x7f"}}), "{\"\\\"\\\\/\":\"\\b\\t\\n\\f\\r\\u0001\\u001f\x7f\"}");
}

HeaderValue from_json(const ordered_json& json) {
  if (json.is_null()) return nullptr;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) {
    HeaderList list;
    for (const auto& item : json) list.push_back(from_json(item));
    return list;
  }
  Headers table;
  for (const auto& [name, value] : json.items()) table.set(name, from_json(value));
  return table;
}

rc::Gen<std::string> text() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(std::vector<std::string>{
                          "a", "\"", "\\", "\n", "\x01", "/", "\xc3\xa4", "\xf0\x9f\x9a\x80", "\xe2\x80\xa8", "x-"})),
                      [](const auto& parts) {
                        std::string all;
                        for (const auto& part : parts) all += part;
                        return all;
                      });
}

HeaderValue any_value(int depth) {
  switch (*rc::gen::inRange(0, depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::arbitrary<std::int64_t>();
    case 3: {
      const auto value = *rc::gen::arbitrary<double>();
      return std::isfinite(value) ? value : 0.25;
    }
    case 4:
      return *text();
    case 5: {
      HeaderList list;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) list.push_back(any_value(depth - 1));
      return list;
    }
    default: {
      Headers table;
      for (int i = *rc::gen::inRange(0, 4); i > 0; --i) table.set(*text(), any_value(depth - 1));
      return table;
    }
  }
}

// Another JSON library reads back the same names, kinds and values.
RC_GTEST_PROP(HeadersJson, AnotherLibraryReadsTheSame, ()) {
  Headers headers;
  for (int i = *rc::gen::inRange(0, 6); i > 0; --i) headers.set(*text(), any_value(3));
  RC_ASSERT(from_json(ordered_json::parse(to_json(headers))) == HeaderValue(headers));
}

}  // namespace
