// Codecs turn a payload into bytes, at the moment a message is made.
//
// A codec of your own is any type with these two members; it may wrap another one (encryption, claim check):
//
//   struct OrderCodec {
//     std::string encode(const Order& order) const;               // the bytes; throws to refuse the payload
//     std::string_view content_type() const noexcept;             // at most 255 bytes
//   };
//   const acemq::BasicMessageFactory<OrderCodec> shop{{.origin = "shop@web-1"}};
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace acemq {

// A payload that codec C can encode.
template <class Payload, class C>
concept CodecPayload = requires(const C& codec, const Payload& payload) {
  { codec.encode(payload) } -> std::convertible_to<std::string>;
  { codec.content_type() } -> std::convertible_to<std::string_view>;
};

// application/json, from JSON text. The text is checked for well-formedness (RFC 8259, UTF-8, nesting of at most 512) and sent
// as it is, keys and spacing untouched. For nlohmann::json values see adapters/nlohmann_json.hpp.
struct JsonCodec {
  // Throws InvalidRecord{"payload"} naming the byte at which the text stops being JSON.
  std::string encode(std::string_view json_text) const;
  std::string_view content_type() const noexcept { return "application/json"; }
};

// text/plain; charset=utf-8. Throws InvalidRecord when the text is not UTF-8.
struct TextCodec {
  std::string encode(std::string_view text) const;
  std::string_view content_type() const noexcept { return "text/plain; charset=utf-8"; }
};

// application/octet-stream, or another type given by the caller (an image, a file already encoded).
struct BytesCodec {
  std::string type = "application/octet-stream";
  std::string encode(std::span<const std::byte> bytes) const;
  std::string encode(std::string_view bytes) const { return std::string(bytes); }
  std::string_view content_type() const noexcept { return type; }
};

}  // namespace acemq
