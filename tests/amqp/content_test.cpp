#include "amqp/wire/content.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "amqp/script.hpp"
#include "amqp/wire/frame.hpp"

namespace acemq::amqp {
namespace {

using namespace std::string_literals;
using script::Conversation;
using script::message;
using testing::ElementsAre;

constexpr std::uint32_t kFrameMax = 4096;

std::string written(const Message& message) {
  std::string out;
  EXPECT_EQ(write_message(out, 1, message, kFrameMax), std::nullopt);
  return out;
}

// Appends to other bytes, which must stay, and returns why not.
std::optional<std::string> refused(const Message& message) {
  std::string out = "before";
  const auto reason = write_message(out, 1, message, kFrameMax);
  EXPECT_EQ(out, "before");
  return reason;
}

std::vector<Frame> frames_of(std::string_view bytes) {
  std::vector<Frame> frames;
  while (!bytes.empty()) {
    const ParsedFrame parsed = parse_frame(bytes, kFrameMax);
    EXPECT_EQ(parsed.status, ParsedFrame::Status::complete);
    if (parsed.size == 0) break;
    frames.push_back(parsed.frame);
    bytes.remove_prefix(parsed.size);
  }
  return frames;
}

// Every byte of a published message, counted by hand from the specification.
TEST(Content, TheBytesOfAMessage) {
  Message hello = message("id-1", "hello");
  hello.headers = {{"n", 5}};
  EXPECT_EQ(written(hello),
            // method frame on channel 1: basic.publish, reserved, exchange, routing key, mandatory
            "\1\0\1\0\0\0\x0E"
            "\0\x3C\0\x28"
            "\0\0"
            "\2ex"
            "\3key"
            "\1"
            "\xCE"
            // header frame: class, weight, body size, flags, content type, table, delivery mode, message id
            "\2\0\1\0\0\0\x30"
            "\0\x3C"
            "\0\0"
            "\0\0\0\0\0\0\0\5"
            "\xB0\x80"
            "\x10"
            "application/json"
            "\0\0\0\7\1nI\0\0\0\5"
            "\2"
            "\4id-1"
            "\xCE"
            // body frame
            "\3\0\1\0\0\0\5hello\xCE"s);
}

// librabbitmq reads the same, with exactly the four properties of ours and all headers.
TEST(Content, B43_ReadsTheSameElsewhere) {
  Message sent = message("id-1", "hello");
  sent.mandatory = false;
  sent.headers = {{"s", "é"},
                  {"i", -1},
                  {"l", INT64_MAX},
                  {"d", 0.1},
                  {"t", true},
                  {"v", nullptr},
                  {"a", HeaderList{1, "x", Headers{{"deep", HeaderList{HeaderList{}}}}}}};
  oracle::Listener listener;
  EXPECT_THAT(listener.hear(written(sent)),
              ElementsAre("1 BASIC_PUBLISH 'ex' 'key'", "1 header flags=45184 id=id-1 type=application/json mode=2 size=5",
                          "1 body of 5"));
  EXPECT_EQ(listener.last_headers(), sent.headers);
  EXPECT_EQ(listener.last_body(), "hello");
}

// Bodies around the frame size: as many frames as needed, none empty, and together they are the body.
TEST(Content, B42_BodiesAreSplitAtTheFrameSize) {
  constexpr std::size_t kMax = kFrameMax - 8;
  const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> cases = {
      {0, {}}, {1, {1}}, {kMax, {kMax}}, {kMax + 1, {kMax, 1}}, {2 * kMax, {kMax, kMax}}, {2 * kFrameMax + 1, {kMax, kMax, 17}}};
  for (const auto& [size, parts] : cases) {
    SCOPED_TRACE(size);
    std::string body;
    for (std::size_t i = 0; i < size; ++i) body.push_back(static_cast<char>(i * 7));
    const std::string bytes = written(message("m", body));
    std::vector<std::size_t> sizes;
    std::string heard;
    for (const Frame& frame : frames_of(bytes)) {
      if (frame.type != FrameType::body) continue;
      sizes.push_back(frame.payload.size());
      heard += frame.payload;
    }
    EXPECT_EQ(sizes, parts);
    EXPECT_EQ(heard, body);
    EXPECT_THAT(oracle::Listener().hear(bytes), testing::SizeIs(2 + parts.size()));
  }
}

// 255 bytes go into a short string; one more is refused with the field and the count, and nothing is sent.
TEST(Content, B40_ShortStringsEndAt255Bytes) {
  const auto with = [](std::string Message::*field, std::size_t size) {
    Message each = message("m");
    each.*field = std::string(size, 'x');
    return each;
  };
  const std::vector<std::pair<std::string, std::string Message::*>> fields = {{"exchange", &Message::exchange},
                                                                              {"routing key", &Message::routing_key},
                                                                              {"message id", &Message::message_id},
                                                                              {"content type", &Message::content_type}};
  for (const auto& [name, field] : fields) {
    written(with(field, 255));
    EXPECT_EQ(refused(with(field, 256)), name + " of 256 bytes, at most 255 are possible");
    EXPECT_EQ(refused(with(field, 300)), name + " of 300 bytes, at most 255 are possible");
  }
}

// Headers must fit one frame of the negotiated size: the last byte that does is accepted, the next one refused.
TEST(Content, HeadersMustFitOneFrame) {
  Message full = message("m");
  const std::size_t without = frames_of(written(full))[1].payload.size() + 8;
  const std::size_t room = kFrameMax - without - std::string("\1hS\0\0\0\0"s).size();
  full.headers = {{"h", std::string(room, 'x')}};
  EXPECT_EQ(frames_of(written(full))[1].payload.size(), kFrameMax - 8);
  full.headers = {{"h", std::string(room + 1, 'x')}};
  EXPECT_EQ(refused(full), "headers: 4097 bytes do not fit one frame of 4096");
}

// RabbitMQ closes the channel over CC and BCC headers that are not lists, so those messages do not leave.
TEST(Content, B28_CarbonCopiesMustBeLists) {
  for (const std::string name : {"CC", "BCC"}) {
    Message copied = message("m");
    copied.headers = {{name, HeaderList{"a.b", "c.d"}}};
    written(copied);
    copied.headers = {{name, "a.b"}};
    EXPECT_EQ(refused(copied), "header " + name + " that is not a list of routing keys");
  }
}

// A session refuses the same way, keeps the ticket out of the window, and goes on with the next message.
TEST(Content, ARefusedMessageLeavesTheChannelUsable) {
  Conversation talk;
  talk.play(script::login() + script::open_channel(1));
  Message bad = message("m1");
  bad.routing_key = std::string(256, 'k');
  EXPECT_EQ(talk.session.publish(1, bad, 1), "routing key of 256 bytes, at most 255 are possible");
  EXPECT_EQ(talk.session.publish(1, message("m2"), 2), std::nullopt);
  EXPECT_EQ(talk.heard().size(), 3U);
  talk.answer(script::ack(1, 1));
  EXPECT_THAT(talk.events(), ElementsAre("confirmed on 1 #2"));
}

// The negotiated frame size, not ours, decides where a body is split.
TEST(Content, B42_TheNegotiatedSizeCounts) {
  Conversation talk;
  for (const std::string& answer : {script::start(), script::tune(64, 4096), script::open_ok()}) talk.answer(answer);
  talk.events();
  talk.heard();
  talk.play(script::open_channel(1));
  EXPECT_EQ(talk.session.frame_max(), 4096U);
  talk.session.publish(1, message("m", std::string(4089, 'x')), 1);
  EXPECT_THAT(talk.heard(), ElementsAre(testing::_, testing::_, "1 body of 4088", "1 body of 1"));
}

// All fourteen properties may be there when a message comes back; the id is found among them.
TEST(ContentHeader, FindsTheMessageIdAmongAllProperties) {
  oracle::Pool pool;
  const Headers headers{{"h", HeaderList{1, 2}}};
  amqp_basic_properties_t all{};
  all._flags = 0xFFFC;
  all.content_type = all.content_encoding = all.correlation_id = all.reply_to = all.expiration = all.type = all.user_id =
      all.app_id = all.cluster_id = oracle::bytes("text");
  all.message_id = oracle::bytes("the id");
  all.headers = oracle::to_table(pool, headers);
  all.timestamp = 1;
  const std::string frame = oracle::content_header(1, all, 77);
  Reader reader(parse_frame(frame, kFrameMax).frame.payload);
  const ContentHeader header = ContentHeader::decode(reader);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(header.message_id, "the id");
  EXPECT_EQ(header.body_size, 77U);
}

// Each property alone, and none at all: where the id is there it is found, where not it is empty.
TEST(ContentHeader, ReadsAnySetOfProperties) {
  for (int bit = 1; bit < 16; ++bit) {
    amqp_basic_properties_t one{};
    one._flags = bit == 1 ? 0 : 1U << bit;
    one.message_id = oracle::bytes("the id");
    one.type = one.app_id = oracle::bytes("other");
    const std::string frame = oracle::content_header(1, one, 0);
    Reader reader(parse_frame(frame, kFrameMax).frame.payload);
    const ContentHeader header = ContentHeader::decode(reader);
    EXPECT_TRUE(reader.ok() && reader.at_end()) << bit;
    EXPECT_EQ(header.message_id, one._flags == AMQP_BASIC_MESSAGE_ID_FLAG ? "the id" : "") << bit;
  }
}

// Flags that no property has, and a header that ends early, are malformed.
TEST(ContentHeader, RefusesWhatItCannotKnow) {
  const std::string start = "\0\x3C\0\0\0\0\0\0\0\0\0\1"s;
  for (const std::string& flags : {"\0\1"s, "\0\2"s, "\x80\0"s, "\x20\0\0\0\1"s, "\0"s}) {
    const std::string payload = start + flags;
    Reader reader(payload);
    ContentHeader::decode(reader);
    EXPECT_FALSE(reader.ok());
  }
}

}  // namespace
}  // namespace acemq::amqp
