#include "acemq/codec.hpp"

#include "acemq/error.hpp"
#include "base/utf8.hpp"
#include "message/json_text.hpp"

namespace acemq {

// A payload may hold anything about anybody, so an error names the place and shows nothing of it.

std::string JsonCodec::encode(std::string_view json_text) const {
  if (const auto fault = message::find_json_fault(json_text)) {
    throw InvalidRecord("payload", "must be JSON; at byte " + std::to_string(fault->offset) + ": " + std::string(fault->reason),
                        "");
  }
  return std::string(json_text);
}

std::string TextCodec::encode(std::string_view text) const {
  if (const std::size_t valid = base::utf8_valid_bytes(text); valid != text.size()) {
    throw InvalidRecord("payload", "must be UTF-8; byte " + std::to_string(valid) + " is not", "");
  }
  return std::string(text);
}

std::string BytesCodec::encode(std::span<const std::byte> bytes) const {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace acemq
