#include "amqp/wire/content.hpp"

#include "amqp/wire/field_table.hpp"
#include "amqp/wire/frame.hpp"
#include "amqp/wire/methods.hpp"

namespace acemq::amqp {
namespace {

constexpr std::uint16_t kBasicClass = 60;
constexpr std::uint8_t kPersistent = 2;

// The flags of the properties, in the order in which the properties follow; bit 15 is the first.
constexpr unsigned kContentType = 1U << 15;
constexpr unsigned kContentEncoding = 1U << 14;
constexpr unsigned kHeaders = 1U << 13;
constexpr unsigned kDeliveryMode = 1U << 12;
constexpr unsigned kPriority = 1U << 11;
constexpr unsigned kCorrelationId = 1U << 10;
constexpr unsigned kReplyTo = 1U << 9;
constexpr unsigned kExpiration = 1U << 8;
constexpr unsigned kMessageId = 1U << 7;
constexpr unsigned kTimestamp = 1U << 6;
constexpr unsigned kType = 1U << 5;
constexpr unsigned kUserId = 1U << 4;
constexpr unsigned kAppId = 1U << 3;
constexpr unsigned kClusterId = 1U << 2;
constexpr unsigned kNotProperties = 3;  // "more flags follow", which no property of this class needs, and an unused bit

// RabbitMQ takes further routing keys from these headers, and closes the channel when they are not lists.
bool is_bad_routing_header(const Headers::Entry& entry) {
  return (entry.name == "CC" || entry.name == "BCC") && entry.value.as_list() == nullptr;
}

std::optional<std::string> write_publish(std::string& out, std::uint16_t channel, const Message& message,
                                         std::uint32_t frame_max) {
  FrameBuilder frame(out, FrameType::method, channel);
  Writer& writer = frame.writer();
  writer.u32(static_cast<std::uint32_t>(MethodId::basic_publish));
  writer.u16(0);  // reserved
  writer.short_string("exchange", message.exchange);
  writer.short_string("routing key", message.routing_key);
  writer.u8(message.mandatory ? 1 : 0);
  return frame.end(frame_max);
}

std::optional<std::string> write_header(std::string& out, std::uint16_t channel, const Message& message,
                                        std::uint32_t frame_max) {
  FrameBuilder frame(out, FrameType::header, channel);
  Writer& writer = frame.writer();
  writer.u16(kBasicClass);
  writer.u16(0);  // weight, unused
  writer.u64(message.body.size());
  writer.u16(kContentType | kHeaders | kDeliveryMode | kMessageId);
  writer.short_string("content type", message.content_type);
  for (const Headers::Entry& entry : message.headers) {
    if (is_bad_routing_header(entry)) writer.fail("header " + entry.name + " that is not a list of routing keys");
  }
  write_table(writer, message.headers);
  writer.u8(kPersistent);
  writer.short_string("message id", message.message_id);
  auto reason = frame.end(frame_max);
  if (reason && writer.error().empty()) reason = "headers: " + *reason;
  return reason;
}

void write_body(std::string& out, std::uint16_t channel, std::string_view body, std::uint32_t frame_max) {
  const std::size_t payload_max = frame_max - kFrameOverhead;
  while (!body.empty()) {
    const std::string_view part = body.substr(0, payload_max);
    FrameBuilder frame(out, FrameType::body, channel);
    frame.writer().bytes(part);
    frame.end(frame_max);
    body.remove_prefix(part.size());
  }
}

}  // namespace

ContentHeader ContentHeader::decode(Reader& reader) {
  ContentHeader header;
  if (reader.u16() != kBasicClass) reader.fail();
  reader.u16();  // weight
  header.body_size = reader.u64();
  const unsigned flags = reader.u16();
  if ((flags & kNotProperties) != 0) reader.fail();
  if ((flags & kContentType) != 0) reader.short_string();
  if ((flags & kContentEncoding) != 0) reader.short_string();
  if ((flags & kHeaders) != 0) reader.long_string();  // a table begins with its size, as a long string does
  if ((flags & kDeliveryMode) != 0) reader.u8();
  if ((flags & kPriority) != 0) reader.u8();
  for (const unsigned flag : {kCorrelationId, kReplyTo, kExpiration}) {
    if ((flags & flag) != 0) reader.short_string();
  }
  if ((flags & kMessageId) != 0) header.message_id = reader.short_string();
  if ((flags & kTimestamp) != 0) reader.u64();
  for (const unsigned flag : {kType, kUserId, kAppId, kClusterId}) {
    if ((flags & flag) != 0) reader.short_string();
  }
  return header;
}

std::optional<std::string> write_message(std::string& out, std::uint16_t channel, const Message& message,
                                         std::uint32_t frame_max) {
  const std::size_t start = out.size();
  auto reason = write_publish(out, channel, message, frame_max);
  if (!reason) reason = write_header(out, channel, message, frame_max);
  if (reason) {
    out.resize(start);
    return reason;
  }
  write_body(out, channel, message.body, frame_max);
  return std::nullopt;
}

}  // namespace acemq::amqp
