#include "amqp/wire/methods.hpp"

#include <initializer_list>

#include "amqp/wire/field_table.hpp"

namespace acemq::amqp {
namespace {

std::uint8_t bits(std::initializer_list<bool> flags) {
  unsigned octet = 0;
  unsigned position = 0;
  for (const bool flag : flags) octet |= (flag ? 1U : 0U) << position++;
  return static_cast<std::uint8_t>(octet);
}

}  // namespace

std::string to_string(MethodId id) {
  const auto number = static_cast<std::uint32_t>(id);
  return std::to_string(number >> 16) + "." + std::to_string(number & 0xFFFF);
}

ConnectionStart ConnectionStart::decode(Reader& reader) {
  reader.u16();  // version 0-9
  ConnectionStart start{.server_properties = read_table(reader), .mechanisms = reader.long_string()};
  reader.long_string();  // locales
  return start;
}

ConnectionTune ConnectionTune::decode(Reader& reader) {
  return {.channel_max = reader.u16(), .frame_max = reader.u32(), .heartbeat = reader.u16()};
}

ConnectionBlocked ConnectionBlocked::decode(Reader& reader) { return {.reason = reader.short_string()}; }

Close Close::decode(Reader& reader) {
  Close close{.code = reader.u16(), .text = reader.short_string()};
  reader.u32();  // the method it blames; the text says it better
  return close;
}

ChannelFlow ChannelFlow::decode(Reader& reader) { return {.active = (reader.u8() & 1) != 0}; }

BasicReturn BasicReturn::decode(Reader& reader) {
  BasicReturn returned{.code = reader.u16(), .text = reader.short_string()};
  reader.short_string();  // exchange
  reader.short_string();  // routing key
  return returned;
}

Acknowledgement Acknowledgement::decode(Reader& reader) { return {.tag = reader.u64(), .multiple = (reader.u8() & 1) != 0}; }

void encode(Writer& writer, const ConnectionStartOk& arguments) {
  write_table(writer, arguments.client_properties);
  writer.short_string("mechanism", arguments.mechanism);
  writer.long_string(arguments.response);
  writer.short_string("locale", "en_US");
}

void encode(Writer& writer, const ConnectionTune& arguments) {
  writer.u16(arguments.channel_max);
  writer.u32(arguments.frame_max);
  writer.u16(arguments.heartbeat);
}

void encode(Writer& writer, const ConnectionOpen& arguments) {
  writer.short_string("vhost", arguments.vhost);
  writer.u8(0);  // reserved
  writer.u8(0);
}

void encode(Writer& writer, const ChannelOpen&) {
  writer.u8(0);  // reserved
}

void encode(Writer& writer, const ConfirmSelect&) {
  writer.u8(0);  // an answer is wanted
}

void encode(Writer& writer, const Close& arguments) {
  writer.u16(arguments.code);
  writer.short_string("text", arguments.text.substr(0, kShortStringMax));
  writer.u32(0);  // blames no method
}

void encode(Writer& writer, const ChannelFlow& arguments) { writer.u8(bits({arguments.active})); }

void encode(Writer& writer, const ExchangeDeclaration& arguments) {
  writer.u16(0);  // reserved
  writer.short_string("exchange", arguments.name);
  writer.short_string("exchange type", arguments.type);
  writer.u8(bits({arguments.passive, arguments.durable, arguments.auto_delete}));
  write_table(writer, arguments.arguments);
}

void encode(Writer& writer, const QueueDeclaration& arguments) {
  writer.u16(0);  // reserved
  writer.short_string("queue", arguments.name);
  writer.u8(bits({arguments.passive, arguments.durable, arguments.exclusive, arguments.auto_delete}));
  write_table(writer, arguments.arguments);
}

void encode(Writer& writer, const QueueBinding& arguments) {
  writer.u16(0);  // reserved
  writer.short_string("queue", arguments.queue);
  writer.short_string("exchange", arguments.exchange);
  writer.short_string("routing key", arguments.routing_key);
  writer.u8(0);  // an answer is wanted
  write_table(writer, arguments.arguments);
}

}  // namespace acemq::amqp
