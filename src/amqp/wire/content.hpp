// A message on the wire: method frame, header frame, body frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/transport.hpp"
#include "amqp/wire/buffer.hpp"

namespace acemq::amqp {

// Writes a message with the four properties of ours (CONTRACT 7.1). Returns why not, and writes nothing, when a short string is
// over 255 bytes, when the headers break a rule of field tables or do not fit one frame, and when the broker would close the
// channel over them.
std::optional<std::string> write_message(std::string& out, std::uint16_t channel, const Message& message,
                                         std::uint32_t frame_max);

// The header frame of a content that comes back. Only the message id matters; the other thirteen properties are skipped.
struct ContentHeader {
  std::uint64_t body_size = 0;
  std::string_view message_id;  // empty when absent
  static ContentHeader decode(Reader& reader);
};

}  // namespace acemq::amqp
