#include "acemq/message_factory.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <unistd.h>

#include "acemq/error.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"
#include "message/limits.hpp"

namespace acemq {
namespace {

std::string host_name() {
  std::array<char, 256> name{};  // one more than POSIX allows a name to have
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  const std::string host(name.data());
  return host.empty() || !base::is_utf8(host) ? "unknown" : host;
}

void check_origin(const std::string& origin) {
  if (origin.size() > message::kShortStringBytesMax || !base::is_storable_text(origin)) {
    throw InvalidConfiguration("origin", "must be at most 255 bytes of UTF-8 without NUL", origin);
  }
}

std::shared_ptr<std::atomic<std::int64_t>> new_counter() {
  return std::make_shared<std::atomic<std::int64_t>>(std::numeric_limits<std::int64_t>::min());
}

// Shared by all factories on the machine's clock.
std::shared_ptr<std::atomic<std::int64_t>> process_counter() {
  static const auto counter = new_counter();
  return counter;
}

}  // namespace

MessageOrigin::MessageOrigin(MessageFactoryOptions options) : options_(std::move(options)) {
  if (options_.origin.empty()) options_.origin = "acemq@" + host_name();
  check_origin(options_.origin);
  last_created_at_ = options_.clock ? new_counter() : process_counter();
  if (!options_.clock) options_.clock = &system_clock();
  if (!options_.random) options_.random = &system_random();
}

Envelope MessageOrigin::new_envelope() const {
  Envelope envelope;
  envelope.id = base::new_uuid(*options_.random);
  envelope.origin = options_.origin;
  envelope.first_seen_ms = std::chrono::floor<std::chrono::milliseconds>(options_.clock->now()).time_since_epoch().count();
  return envelope;
}

Timestamp MessageOrigin::next_created_at() const {
  const std::int64_t now = options_.clock->now().time_since_epoch().count();
  std::int64_t last = last_created_at_->load(std::memory_order_relaxed);
  std::int64_t next = 0;
  do {
    next = std::max(now, last + 1);
  } while (!last_created_at_->compare_exchange_weak(last, next, std::memory_order_relaxed));
  return Timestamp(std::chrono::microseconds(next));
}

void MessageOrigin::decorate(Headers& headers) const {
  if (options_.decorate) options_.decorate(headers);
}

}  // namespace acemq
