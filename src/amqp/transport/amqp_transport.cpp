#include <utility>

#include "acemq/amqp.hpp"
#include "acemq/error.hpp"
#include "amqp/transport/amqp_channel.hpp"
#include "amqp/transport/link.hpp"
#include "amqp/transport/url.hpp"

namespace acemq {
namespace {

void check_timeout(const char* field, std::chrono::milliseconds value) {
  if (value < std::chrono::milliseconds(1) || value > std::chrono::minutes(10))
    throw InvalidConfiguration(field, "must be from 1 ms to 10 min", std::to_string(value.count()) + " ms");
}

void check_number(const char* field, std::int64_t value, std::int64_t min, std::int64_t max) {
  if (value < min || value > max)
    throw InvalidConfiguration(field, "must be from " + std::to_string(min) + " to " + std::to_string(max),
                               std::to_string(value));
}

AmqpOptions checked(AmqpOptions options) {
  check_timeout("connect_timeout", options.connect_timeout);
  check_timeout("handshake_timeout", options.handshake_timeout);
  check_timeout("login_timeout", options.login_timeout);
  check_number("heartbeat", options.heartbeat.count(), 0, 65535);
  check_number("frame_max", options.frame_max, 4096, 16 * 1024 * 1024);
  check_number("channel_max", options.channel_max, 1, 65535);
  return options;
}

}  // namespace

class AmqpTransport::Impl final : public amqp::Link {
 public:
  using Link::Link;

  // For callers that have nothing else to wait for.
  void ask(std::chrono::milliseconds deadline, const char* what, const std::string& name, const Ask& question) {
    auto failure = request(std::make_shared<amqp::Waiter>(), amqp::deadline_after(deadline), question);
    if (!failure) return;
    failure->reason = std::string(what) + " '" + name + "': " + failure->reason;
    throw PublishError(std::move(*failure));
  }
};

AmqpTransport::AmqpTransport(std::string_view url, AmqpOptions options)
    : impl_(std::make_shared<Impl>(amqp::parse_url(url), checked(std::move(options)))) {}

AmqpTransport::~AmqpTransport() { impl_->stop(); }

std::unique_ptr<PublishChannel> AmqpTransport::publish_channel() { return std::make_unique<amqp::AmqpChannel>(impl_); }

std::string AmqpTransport::description() const { return amqp::describe(impl_->url()); }

void AmqpTransport::declare(const ExchangeDeclaration& exchange, std::chrono::milliseconds deadline) {
  impl_->ask(deadline, "exchange", exchange.name, [&](amqp::Session& session, amqp::ChannelId channel, std::uint64_t request) {
    session.declare(channel, exchange, request);
  });
}

void AmqpTransport::declare(const QueueDeclaration& queue, std::chrono::milliseconds deadline) {
  impl_->ask(deadline, "queue", queue.name, [&](amqp::Session& session, amqp::ChannelId channel, std::uint64_t request) {
    session.declare(channel, queue, request);
  });
}

void AmqpTransport::bind(const QueueBinding& binding, std::chrono::milliseconds deadline) {
  impl_->ask(deadline, "binding of", binding.queue, [&](amqp::Session& session, amqp::ChannelId channel, std::uint64_t request) {
    session.bind(channel, binding, request);
  });
}

}  // namespace acemq
