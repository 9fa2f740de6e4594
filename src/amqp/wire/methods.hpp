// The methods that a publisher sends and receives, as plain structs: what we send can be encoded, what we receive decoded.
// A method without arguments that matter is its id alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/amqp.hpp"
#include "acemq/headers.hpp"
#include "amqp/wire/buffer.hpp"
#include "amqp/wire/frame.hpp"

namespace acemq::amqp {

// Class and method number in one.
enum class MethodId : std::uint32_t {
  none = 0,
  connection_start = 10 << 16 | 10,
  connection_start_ok = 10 << 16 | 11,
  connection_secure = 10 << 16 | 20,
  connection_tune = 10 << 16 | 30,
  connection_tune_ok = 10 << 16 | 31,
  connection_open = 10 << 16 | 40,
  connection_open_ok = 10 << 16 | 41,
  connection_close = 10 << 16 | 50,
  connection_close_ok = 10 << 16 | 51,
  connection_blocked = 10 << 16 | 60,
  connection_unblocked = 10 << 16 | 61,
  channel_open = 20 << 16 | 10,
  channel_open_ok = 20 << 16 | 11,
  channel_flow = 20 << 16 | 20,
  channel_flow_ok = 20 << 16 | 21,
  channel_close = 20 << 16 | 40,
  channel_close_ok = 20 << 16 | 41,
  exchange_declare = 40 << 16 | 10,
  exchange_declare_ok = 40 << 16 | 11,
  queue_declare = 50 << 16 | 10,
  queue_declare_ok = 50 << 16 | 11,
  queue_bind = 50 << 16 | 20,
  queue_bind_ok = 50 << 16 | 21,
  basic_publish = 60 << 16 | 40,
  basic_return = 60 << 16 | 50,
  basic_ack = 60 << 16 | 80,
  basic_nack = 60 << 16 | 120,
  confirm_select = 85 << 16 | 10,
  confirm_select_ok = 85 << 16 | 11,
};
// "10.30", for people.
std::string to_string(MethodId id);

// What the broker sends. decode() fails the reader when the arguments are malformed; texts lie in the bytes read.

struct ConnectionStart {
  Headers server_properties;
  std::string_view mechanisms;  // separated by spaces
  static ConnectionStart decode(Reader& reader);
};

struct ConnectionTune {           // also what we answer with
  std::uint16_t channel_max = 0;  // 0: no limit, of each
  std::uint32_t frame_max = 0;
  std::uint16_t heartbeat = 0;  // seconds
  static ConnectionTune decode(Reader& reader);
};

struct ConnectionBlocked {
  std::string_view reason;
  static ConnectionBlocked decode(Reader& reader);
};

struct Close {  // connection.close and channel.close, both ways
  std::uint16_t code = 0;
  std::string_view text;
  static Close decode(Reader& reader);
};

struct ChannelFlow {  // also what we answer with
  bool active = false;
  static ChannelFlow decode(Reader& reader);
};

struct BasicReturn {
  std::uint16_t code = 0;
  std::string_view text;
  static BasicReturn decode(Reader& reader);
};

struct Acknowledgement {  // basic.ack and basic.nack
  std::uint64_t tag = 0;
  bool multiple = false;
  static Acknowledgement decode(Reader& reader);
};

// What we send.

struct ConnectionStartOk {
  Headers client_properties;
  std::string_view mechanism, response;
};

struct ConnectionOpen {
  std::string_view vhost;
};

struct ChannelOpen {};
struct ConfirmSelect {};

struct NoArguments {};

void encode(Writer& writer, const ConnectionStartOk& arguments);
void encode(Writer& writer, const ConnectionTune& arguments);
void encode(Writer& writer, const ConnectionOpen& arguments);
void encode(Writer& writer, const ChannelOpen& arguments);
void encode(Writer& writer, const ConfirmSelect& arguments);
void encode(Writer& writer, const Close& arguments);  // cuts the text to what fits
void encode(Writer& writer, const ChannelFlow& arguments);
void encode(Writer& writer, const ExchangeDeclaration& arguments);
void encode(Writer& writer, const QueueDeclaration& arguments);
void encode(Writer& writer, const QueueBinding& arguments);
inline void encode(Writer&, const NoArguments&) {}

// Writes a whole method frame. Returns why not, and writes nothing, when it breaks a limit.
template <class Arguments>
std::optional<std::string> write_method(std::string& out, std::uint16_t channel, MethodId id, const Arguments& arguments,
                                        std::uint32_t frame_max = kFrameMaxFloor) {
  FrameBuilder frame(out, FrameType::method, channel);
  frame.writer().u32(static_cast<std::uint32_t>(id));
  encode(frame.writer(), arguments);
  return frame.end(frame_max);
}

}  // namespace acemq::amqp
