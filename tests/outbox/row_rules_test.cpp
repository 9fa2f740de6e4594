#include "outbox/row_rules.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acemq/error.hpp"
#include "base/utf8.hpp"

namespace {

using namespace acemq::outbox;
using namespace std::string_literals;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// The shared body cases are stored as agreed and read back byte for byte, whoever wrote them.
TEST(Body, FollowsTheSharedCases) {
  std::ifstream file(ACEMQ_TEST_DATA "/derived-outbox-rows.json");
  const auto cases = nlohmann::json::parse(file)["bodies"];
  ASSERT_GE(cases.size(), 5U);
  for (const auto& example : cases) {
    const std::string bytes = from_hex(example["bytesHex"]);
    const StoredBody stored = encode_body(bytes);
    EXPECT_EQ(stored.text, example["weWrite"]["body"]) << example["case"];
    EXPECT_EQ(stored.encoding, example["weWrite"]["body_encoding"].get<std::string>()) << example["case"];
    for (const char* writer : {"weWrite", "siblingsWrite"}) {
      const auto& row = example[writer];
      EXPECT_EQ(decode_body(row["body"].get<std::string>(), row["body_encoding"].get<std::string>()), bytes) << example["case"];
    }
  }
}

// An encoding that nobody knows, or text that is not strict base64, is no body: better no message than a guess.
TEST(Body, IsNeverGuessed) {
  EXPECT_EQ(decode_body("QQ==", "base64"), "A");
  EXPECT_EQ(decode_body("QQ==\n", "base64"), std::nullopt);
  EXPECT_EQ(decode_body("A", "utf8"), std::nullopt);
  EXPECT_EQ(decode_body("A", ""), std::nullopt);
}

// 1000 characters pass; longer ones end in three dots within 1000, whatever the width of a character.
TEST(LastError, IsCutAt1000Characters) {
  for (const std::string& character : {"x"s, "\xc3\xa4"s, "\xf0\x9f\x9a\x80"s}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += character;
    EXPECT_EQ(to_last_error(text), text);
    const std::string cut = to_last_error(text + character);
    EXPECT_EQ(acemq::base::utf8_length(cut), 1000U);
    EXPECT_EQ(cut, text.substr(0, 997 * character.size()) + "...");
  }
}

// A broker's words may be anything; what is stored is always text that PostgreSQL takes.
TEST(LastError, IsAlwaysStorable) {
  EXPECT_EQ(to_last_error("a\0b\xff"s),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_TRUE(acemq::base::is_storable_text(to_last_error(std::string(3000, '\xe2'))));
}

// A plain identifier passes; whatever could end one, or does not fit, is refused before it comes near any SQL.
TEST(TableName, IsAPlainIdentifier) {
  for (const std::string& good : {"a"s, "_"s, "acemq_outbox"s, "T1"s, std::string(63, 'x')})
    EXPECT_NO_THROW(check_table_name(good));
  for (const std::string& bad :
       {""s, "1a"s, "a b"s, "a;--"s, "a\n"s, "\"a\""s, "a.b"s, "a-b"s, "t\xc3\xa4"s, "a\0"s, std::string(64, 'x')}) {
    EXPECT_THROW(check_table_name(bad), acemq::InvalidConfiguration) << bad;
  }
}

}  // namespace
