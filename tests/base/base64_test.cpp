#include "base/base64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace {

using acemq::base::base64_decode;
using acemq::base::base64_encode;

// The vectors of RFC 4648 section 10, both ways.
TEST(Base64, AgreesWithTheStandardsVectors) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
}

// One long line whatever the length: a line break would not come back from a strict reader.
TEST(Base64, NeverBreaksLines) { EXPECT_EQ(base64_encode(std::string(60, '\xff')), std::string(80, '/')); }

// Everything that is not the one text of some bytes: foreign characters, white space, padding missing, doubled or in the middle,
// tail bits that are not zero, the URL alphabet.
TEST(Base64, RefusesWhatIsNotExact) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Zm9v====", "====", "=", "Zg==Zg==", "Z===", "Z g=", "Zm9v\n", " Zm9v",
                           "Zh==", "Zm9=", "Zm-_", "Zm9v!", "Z\xc3\xa4=="}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
  EXPECT_EQ(base64_decode(std::string("Zm\0v", 4)), std::nullopt);
}

// Random bytes come back, in the length that RFC 4648 gives.
RC_GTEST_PROP(Base64, RoundTripsAnyBytes, (const std::string& bytes)) {
  const std::string text = base64_encode(bytes);
  RC_ASSERT(text.size() == (bytes.size() + 2) / 3 * 4);
  RC_ASSERT(base64_decode(text) == bytes);
}

// A text that decodes is the very one that its bytes encode to, so no two texts stand for the same bytes.
RC_GTEST_PROP(Base64, HasOneTextForEachBytes, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("AQRgw/+9=")));
  if (const auto bytes = base64_decode(text)) RC_ASSERT(base64_encode(*bytes) == text);
}

}  // namespace
