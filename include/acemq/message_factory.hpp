// MessageFactory: a codec and an origin, all that making a message needs. No broker, ever.
//
//   const acemq::MessageFactory shop{{.origin = "shop@web-1"}};
//
// A factory is immutable once made and safe to use from any thread, if its codec and its hook are.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "acemq/clock.hpp"
#include "acemq/codec.hpp"
#include "acemq/envelope.hpp"

namespace acemq {

struct MessageFactoryOptions {
  // "service@host", the x-acemq-origin header. Empty: "acemq@" and the host's name.
  std::string origin = {};
  // A larger body is refused. Keep it at or below the broker's max_message_size, 16 MiB for the brokers tested here.
  std::size_t body_bytes_max = std::size_t{16} << 20;
  // Called for each message with its application headers, the only place to add trace context (traceparent, tracestate) or
  // a tenant: no interceptor runs later for a message that goes through the outbox (CONTRACT 3). May throw to refuse.
  std::function<void(Headers&)> decorate = {};
  // Both must outlive the factory; nullptr means the machine's own.
  const Clock* clock = nullptr;
  Random* random = nullptr;
};

// The part that does not depend on a codec.
class MessageOrigin {
 public:
  // Throws InvalidConfiguration for an origin longer than 255 bytes or not UTF-8.
  explicit MessageOrigin(MessageFactoryOptions options);

  // A new envelope: fresh id (UUID version 4), this origin, first seen now.
  Envelope new_envelope() const;
  // Now; strictly later, by a microsecond at least, than every earlier call in this process (CONTRACT 2.3). With a clock of your
  // own: than every earlier call on this factory and its copies, so that one test's clock does not push another's.
  Timestamp next_created_at() const;

  const std::string& origin() const noexcept { return options_.origin; }
  std::size_t body_bytes_max() const noexcept { return options_.body_bytes_max; }
  void decorate(Headers& headers) const;

 private:
  MessageFactoryOptions options_;
  std::shared_ptr<std::atomic<std::int64_t>> last_created_at_;  // microseconds
};

template <class Codec>
class BasicMessageFactory : public MessageOrigin {
 public:
  explicit BasicMessageFactory(MessageFactoryOptions options = {}, Codec codec = {})
      : MessageOrigin(std::move(options)), codec_(std::move(codec)) {}
  const Codec& codec() const noexcept { return codec_; }

 private:
  Codec codec_;
};

using MessageFactory = BasicMessageFactory<JsonCodec>;

}  // namespace acemq
