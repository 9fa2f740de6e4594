#include "amqp/wire/frame.hpp"

#include <gtest/gtest.h>

#include "amqp/oracle.hpp"
#include "amqp/session/output_buffer.hpp"

namespace acemq::amqp {
namespace {

using Status = ParsedFrame::Status;

// A frame is found at the start of the bytes and only when its last byte is there; what follows is left alone.
TEST(Frame, IsCompleteWithItsLastByte) {
  const std::string bytes = oracle::frame(3, 0x1234, "payload");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(parse_frame(bytes.substr(0, size), 4096).status, Status::incomplete) << size;
  }
  const std::string more = bytes + "next";
  const ParsedFrame parsed = parse_frame(more, 4096);
  ASSERT_EQ(parsed.status, Status::complete);
  EXPECT_EQ(parsed.frame.type, FrameType::body);
  EXPECT_EQ(parsed.frame.channel, 0x1234);
  EXPECT_EQ(parsed.frame.payload, "payload");
  EXPECT_EQ(parsed.size, bytes.size());
}

// The size is judged by the header alone, so that nobody waits for, or stores, what could never be taken.
TEST(Frame, OverTheLimitIsMalformedBeforeItsBodyArrives) {
  const std::string largest = oracle::frame(3, 1, std::string(4096 - 8, 'x'));
  EXPECT_EQ(parse_frame(largest, 4096).status, Status::complete);
  EXPECT_EQ(parse_frame(largest.substr(0, 7), 4095).status, Status::malformed);
  EXPECT_EQ(parse_frame(std::string("\x03\0\1\xFF\xFF\xFF\xFF", 7), 4096).status, Status::malformed);
}

// An unknown type is malformed at its first byte, a wrong end octet when it is there.
TEST(Frame, WrongOctetsAreMalformed) {
  for (const char* type : {"\x04", "\x07", "\x09", "A", "\xFF"}) EXPECT_EQ(parse_frame(type, 4096).status, Status::malformed);
  std::string bytes = oracle::frame(8, 0, "");
  bytes.back() = '\xCF';
  EXPECT_EQ(parse_frame(bytes, 4096).status, Status::malformed);
}

// A built frame equals the one that librabbitmq's rules give; one that cannot be ended leaves no trace.
TEST(FrameBuilder, WritesAWholeFrameOrNothing) {
  std::string out = "before";
  FrameBuilder good(out, FrameType::body, 7);
  good.writer().bytes("payload");
  EXPECT_EQ(good.end(15), std::nullopt);
  EXPECT_EQ(out, "before" + oracle::frame(3, 7, "payload"));

  out = "before";
  FrameBuilder large(out, FrameType::body, 7);
  large.writer().bytes("payload");
  EXPECT_EQ(large.end(14), "15 bytes do not fit one frame of 14");
  EXPECT_EQ(out, "before");

  FrameBuilder bad(out, FrameType::method, 7);
  bad.writer().short_string("name", std::string(300, 'x'));
  bad.writer().short_string("second", std::string(400, 'x'));
  EXPECT_EQ(bad.end(4096), "name of 300 bytes, at most 255 are possible");
  EXPECT_EQ(out, "before");
}

// A read past the end fails for good and gives nothing, whatever follows.
TEST(Reader, FailsForGood) {
  Reader reader("\5ab");
  EXPECT_EQ(reader.short_string(), "");
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.u8(), 0);
  EXPECT_EQ(reader.long_string(), "");
  EXPECT_FALSE(reader.ok());
}

// What was sent goes, what was not stays, in whatever parts it leaves.
TEST(OutputBuffer, KeepsWhatWasNotSent) {
  OutputBuffer buffer;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string part(5000, static_cast<char>('a' + i % 26));
    buffer.end() += part;
    expected += part;
    buffer.consume(4000);
    expected.erase(0, 4000);
    ASSERT_EQ(buffer.view(), expected);
  }
}

// Memory is kept for the next burst, but not after one large message; and a queue that never drains does not keep what left.
TEST(OutputBuffer, GivesLargeMemoryBack) {
  OutputBuffer buffer;
  buffer.end().append(100'000, 'x');
  buffer.consume(100'000);
  EXPECT_GE(buffer.end().capacity(), 100'000U);
  buffer.end().append(10'000'000, 'x');
  buffer.consume(10'000'000);
  EXPECT_LT(buffer.end().capacity(), 1000U);
  for (int i = 0; i < 1000; ++i) {
    buffer.end().append(100'000, 'x');
    buffer.consume(i == 0 ? 50'000 : 100'000);
  }
  EXPECT_LT(buffer.end().capacity(), 8'000'000U);
}

}  // namespace
}  // namespace acemq::amqp
