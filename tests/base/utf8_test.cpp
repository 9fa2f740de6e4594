#include "base/utf8.hpp"

#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace {

using namespace acemq::base;
using namespace std::string_literals;

// A second opinion, slow and plain: decode by arithmetic, then see whether the value may be written with so many bytes.
bool naive_is_utf8(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || i + length > bytes.size()) return false;
    std::uint32_t value = length == 1 ? lead : lead & (0x7fU >> length);
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + k]);
      if (next >> 6 != 2) return false;
      value = value << 6 | (next & 0x3f);
    }
    const std::size_t needed = value < 0x80 ? 1 : value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
    if (needed != length || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return false;
    i += length;
  }
  return true;
}

// Bytes at the borders of the encoding, many ASCII runs among them so that the fast path and its ends are met.
rc::Gen<std::string> near_utf8() {
  const std::vector<std::string> pieces{"a",
                                        "12345678",
                                        "\0"s,
                                        "\x7f",
                                        "\x80",
                                        "\xbf",
                                        "\xc0",
                                        "\xc2",
                                        "\xc3\xa4",
                                        "\xe0",
                                        "\xe0\xa0\x80",
                                        "\xe0\x9f\xbf",
                                        "\xed",
                                        "\xed\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0",
                                        "\xf0\x90\x80\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5",
                                        "\xff",
                                        "\xe2\x82",
                                        "\xf0\x9f\x9a"};
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces)), [](const auto& parts) {
    std::string all;
    for (const auto& part : parts) all += part;
    return all;
  });
}

// Bytes from every border of table 3-7, against the plain decoder.
RC_GTEST_PROP(Utf8, AgreesWithAPlainDecoder, ()) {
  const std::string bytes = *near_utf8();
  RC_ASSERT(is_utf8(bytes) == naive_is_utf8(bytes));
  const std::size_t valid = utf8_valid_bytes(bytes);
  RC_ASSERT(naive_is_utf8(bytes.substr(0, valid)));
  RC_ASSERT((valid == bytes.size()) == naive_is_utf8(bytes));
}

// All sequences of one and two bytes, and all of three bytes behind a lead byte of three, against the plain decoder.
TEST(Utf8, AgreesOnEveryShortSequence) {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      const std::string two{static_cast<char>(a), static_cast<char>(b)};
      ASSERT_EQ(is_utf8(two), naive_is_utf8(two)) << a << ' ' << b;
      if (a < 0xe0 || a > 0xf4) continue;
      for (const unsigned c : {0x00U, 0x7fU, 0x80U, 0xbfU, 0xc0U}) {
        const std::string three = two + static_cast<char>(c);
        ASSERT_EQ(is_utf8(three), naive_is_utf8(three)) << a << ' ' << b << ' ' << c;
        ASSERT_EQ(is_utf8(three + "\x80"), naive_is_utf8(three + "\x80")) << a << ' ' << b << ' ' << c;
      }
    }
  }
}

// The malformed byte is found at every distance from the steps of eight.
TEST(Utf8, FindsTheMalformedByteAtEveryOffset) {
  for (std::size_t offset = 0; offset < 40; ++offset) {
    std::string text(40, 'x');
    text[offset] = '\xff';
    EXPECT_EQ(utf8_valid_bytes(text), offset);
  }
}

// U+0000 is UTF-8, but PostgreSQL takes it in no text.
TEST(Utf8, NulIsNotStorable) {
  EXPECT_TRUE(is_utf8("a\0b"s));
  EXPECT_FALSE(is_storable_text("a\0b"s));
  EXPECT_TRUE(is_storable_text(""));
}

// Characters, not bytes: one, two, three and four bytes wide.
TEST(Utf8, CountsAndCutsCharacters) {
  const std::string text = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80z";
  EXPECT_EQ(utf8_length(text), 5U);
  EXPECT_EQ(utf8_prefix(text, 0), "");
  EXPECT_EQ(utf8_prefix(text, 2), "a\xc3\xa4");
  EXPECT_EQ(utf8_prefix(text, 4), "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80");
  EXPECT_EQ(utf8_prefix(text, 5), text);
  EXPECT_EQ(utf8_prefix(text, 99), text);
}

// One replacement for each malformed sequence, as Unicode recommends, and one for each NUL.
TEST(Utf8, ReplacesWhatCannotBeStored) {
  EXPECT_EQ(to_storable_text("a\0b"s),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(to_storable_text("\xe2\x82z"), "\xef\xbf\xbdz");
  EXPECT_EQ(to_storable_text("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(to_storable_text("\xf0\x9f\x9a"), "\xef\xbf\xbd");
}

// Whatever comes in, text that any database takes comes out; good text is left alone.
RC_GTEST_PROP(Utf8, ReplacementIsAlwaysStorable, ()) {
  const std::string bytes = *near_utf8();
  RC_ASSERT(is_storable_text(to_storable_text(bytes)));
  if (is_storable_text(bytes)) RC_ASSERT(to_storable_text(bytes) == bytes);
}

}  // namespace
