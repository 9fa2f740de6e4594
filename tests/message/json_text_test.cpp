#include "message/json_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace {

using acemq::message::find_json_fault;
using acemq::message::kJsonNestingMax;
using namespace std::string_literals;

// Good texts of every kind, with white space wherever it may stand.
TEST(JsonText, AcceptsJson) {
  for (const char* text : {"0", "-0", "1.5e-3", "1E+9", "true", "false", "null", "\"\"", "\"\\u00e4\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                           "[]", "{}", " [ 1 , 2 ] ", "\t{ \"a\" : { \"b\" : [ ] } ,\r\n \"a\" : null }", "\"\\ud800\"",
                           "\"Z\xc3\xbcrich\"", "123456789012345678901234567890"}) {
    EXPECT_FALSE(find_json_fault(text)) << text;
  }
}

// Each fault is named at the byte where the text stops being JSON.
TEST(JsonText, NamesTheByte) {
  const std::pair<std::string, std::size_t> faults[] = {
      {"", 0},          {"  ", 2},    {"tru", 3},     {"trux", 3},      {"nul", 3},        {"01", 1},
      {"-", 1},         {"1.", 2},    {"1e", 2},      {"1e+", 3},       {".5", 0},         {"+1", 0},
      {"1 2", 2},       {"[1,]", 3},  {"[1 2]", 3},   {"[", 1},         {"[1", 2},         {"{", 1},
      {"{,}", 1},       {"{a:1}", 1}, {"{\"a\"}", 4}, {"{\"a\":}", 5},  {"{\"a\":1,}", 7}, {"{\"a\":1", 6},
      {"]", 0},         {"[}", 1},    {"\"abc", 4},   {"\"\n\"", 1},    {"\"\\x\"", 2},    {"\"\\u12g4\"", 5},
      {"\"\\", 2},      {"'a'", 0},   {"NaN", 0},     {"nan", 1},       {"// x\n1", 0},    {"\xef\xbb\xbf{}", 0},
      {"\"a\xff\"", 2}, {"{}\0"s, 2}, {"\"\0\""s, 1}, {"\"\\\0\""s, 2}, {"\0"s, 0}};
  for (const auto& [text, offset] : faults) {
    const auto fault = find_json_fault(text);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(fault->offset, offset) << text;
    EXPECT_FALSE(fault->reason.empty()) << text;
  }
}

// The bound on nesting is met exactly, and a text far beyond it costs no stack.
TEST(JsonText, BoundsNesting) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(find_json_fault(nested(kJsonNestingMax)));
  const auto fault = find_json_fault(nested(kJsonNestingMax + 1));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->offset, kJsonNestingMax);
  EXPECT_TRUE(find_json_fault(std::string(10'000'000, '[')));
  EXPECT_TRUE(find_json_fault(std::string(10'000'000, '{')));
}

// Random texts from the characters that matter, and good ones with one byte changed: another JSON library agrees on each.
RC_GTEST_PROP(JsonText, AnotherLibraryAgrees, ()) {
  const std::vector<std::string> pieces{
      "{",  "}",    "[",    "]",    ",",    ":", "\"", "\"a\"", "\"a\":",   "\\",   "\\u00e4", "\\n", "0",
      "12", "-1.5", "1e-3", "true", "null", " ", "\n", "a",     "\xc3\xa4", "\xff", ".",       "[]"};
  const auto parts = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces));
  std::string text;
  for (const auto& part : parts) text += part;
  RC_ASSERT(!find_json_fault(text) == nlohmann::json::accept(text));

  std::string good = R"({"a":[1,-2.5e+3,"x\u00e4\\",true,null,{"b":{}}],"c":""})";
  good[*rc::gen::inRange<std::size_t>(0, good.size())] = *rc::gen::elementOf("{}[],:\"\\0e.-+tn x\x01"s);
  RC_ASSERT(!find_json_fault(good) == nlohmann::json::accept(good));
}

}  // namespace
