#include "amqp/wire/frame.hpp"

namespace acemq::amqp {
namespace {

constexpr std::size_t kHeaderSize = 7;
constexpr char kFrameEnd = '\xCE';

bool is_frame_type(std::uint8_t type) {
  switch (static_cast<FrameType>(type)) {
    case FrameType::method:
    case FrameType::header:
    case FrameType::body:
    case FrameType::heartbeat:
      return true;
  }
  return false;
}

ParsedFrame malformed(std::string_view reason) {
  return {.status = ParsedFrame::Status::malformed, .frame = {}, .size = 0, .reason = reason};
}

}  // namespace

ParsedFrame parse_frame(std::string_view bytes, std::uint32_t frame_max) {
  if (bytes.empty()) return {};
  Reader reader(bytes);
  const std::uint8_t type = reader.u8();
  if (!is_frame_type(type)) return malformed("a frame of unknown type");
  if (bytes.size() < kHeaderSize) return {};
  const std::uint16_t channel = reader.u16();
  const std::size_t payload_size = reader.u32();
  const std::size_t size = payload_size + kFrameOverhead;
  if (size > frame_max) return malformed("a frame over the negotiated size");
  if (bytes.size() < size) return {};
  if (bytes[size - 1] != kFrameEnd) return malformed("a frame without its end octet");
  return {.status = ParsedFrame::Status::complete,
          .frame = {static_cast<FrameType>(type), channel, bytes.substr(kHeaderSize, payload_size)},
          .size = size,
          .reason = {}};
}

FrameBuilder::FrameBuilder(std::string& out, FrameType type, std::uint16_t channel)
    : out_(out), writer_(out), start_(out.size()) {
  writer_.u8(static_cast<std::uint8_t>(type));
  writer_.u16(channel);
  payload_ = writer_.begin_length();
}

std::optional<std::string> FrameBuilder::end(std::uint32_t frame_max) {
  const std::size_t size = out_.size() - start_ + 1;
  std::optional<std::string> reason;
  if (!writer_.error().empty()) {
    reason = writer_.error();
  } else if (size > frame_max) {
    reason = std::to_string(size) + " bytes do not fit one frame of " + std::to_string(frame_max);
  }
  if (reason) {
    out_.resize(start_);
  } else {
    writer_.end_length(payload_);
    out_.push_back(kFrameEnd);
  }
  return reason;
}

}  // namespace acemq::amqp
