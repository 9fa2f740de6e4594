#include "amqp/transport/amqp_channel.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace acemq::amqp {

AmqpChannel::AmqpChannel(std::shared_ptr<Link> link)
    : link_(std::move(link)), waiter_(std::make_shared<Waiter>()), mailbox_(std::make_shared<Mailbox>(waiter_)) {}

AmqpChannel::~AmqpChannel() { link_->close(*mailbox_); }

std::optional<Failure> AmqpChannel::open(std::chrono::milliseconds deadline) {
  if (open_) return std::nullopt;
  auto failure = link_->open(mailbox_, deadline_after(deadline));
  open_ = !failure;
  return failure;
}

bool AmqpChannel::is_open() const { return open_; }

std::optional<std::string> AmqpChannel::blocked_reason() const { return link_->blocked_reason(*mailbox_); }

void AmqpChannel::close() {
  link_->close(*mailbox_);
  open_ = false;
}

std::optional<Failure> AmqpChannel::check_exchange(std::string_view exchange, std::chrono::milliseconds deadline) {
  if (exchange.empty()) return std::nullopt;
  const ExchangeDeclaration question{.name = std::string(exchange), .passive = true};
  auto failure = link_->request_beside(
      *mailbox_, deadline_after(deadline),
      [&](Session& session, ChannelId channel, std::uint64_t request) { session.declare(channel, question, request); });
  if (failure && failure->failure_class == FailureClass::refusal) {
    constexpr std::uint16_t kNotFound = 404;
    failure->reason = (failure->code == kNotFound ? "no such exchange '" : "refused exchange '") + question.name + "'";
  }
  return failure;
}

void AmqpChannel::publish(std::span<const Publication> publications) { link_->publish(*mailbox_, publications); }

void AmqpChannel::poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) {
  const auto known = static_cast<std::ptrdiff_t>(events.size());
  link_->collect(*mailbox_, events, deadline_after(timeout));
  if (std::any_of(events.begin() + known, events.end(), [](const TransportEvent& event) {
        return event.kind == TransportEvent::Kind::channel_closed || event.kind == TransportEvent::Kind::connection_lost;
      }))
    open_ = false;
}

void AmqpChannel::interrupt() noexcept { link_->interrupt(*waiter_); }

void AmqpChannel::cancel() noexcept { link_->cancel(*waiter_); }

}  // namespace acemq::amqp
