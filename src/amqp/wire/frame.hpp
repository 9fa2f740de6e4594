// Frames: type, channel, size, payload, end octet (AMQP 0-9-1, 4.2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "amqp/wire/buffer.hpp"

namespace acemq::amqp {

enum class FrameType : std::uint8_t { method = 1, header = 2, body = 3, heartbeat = 8 };

inline constexpr std::size_t kFrameOverhead = 8;       // seven bytes of header and the end octet
inline constexpr std::uint32_t kFrameMaxFloor = 4096;  // every peer must take frames of this size
inline constexpr std::string_view kProtocolHeader{"AMQP\0\0\x09\x01", 8};

struct Frame {
  FrameType type = FrameType::method;
  std::uint16_t channel = 0;
  std::string_view payload;
};

struct ParsedFrame {
  enum class Status { complete, incomplete, malformed };
  Status status = Status::incomplete;
  Frame frame;                   // when complete; its payload lies in the bytes given
  std::size_t size = 0;          // when complete: how many bytes it took
  std::string_view reason = {};  // when malformed
};

// Looks for one frame at the start of `bytes`. A frame that could never be taken is malformed as soon as its header tells, so
// that nobody waits for, or stores, a body of 4 GiB. `frame_max` counts the whole frame.
ParsedFrame parse_frame(std::string_view bytes, std::uint32_t frame_max);

// A frame being written at the end of a string: create, write, end.
class FrameBuilder {
 public:
  FrameBuilder(std::string& out, FrameType type, std::uint16_t channel);
  Writer& writer() noexcept { return writer_; }
  // Closes the frame. Returns why not, and takes the frame back whole, when a value did not fit its field or the frame is
  // larger than `frame_max`.
  std::optional<std::string> end(std::uint32_t frame_max);

 private:
  std::string& out_;
  Writer writer_;
  std::size_t start_;
  std::size_t payload_;
};

}  // namespace acemq::amqp
