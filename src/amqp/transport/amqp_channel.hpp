#pragma once

#include <memory>

#include "acemq/transport.hpp"
#include "amqp/transport/link.hpp"

namespace acemq::amqp {

// A publishing channel of a link. It counts as open until poll() has handed out the event that ended it: what the owner knows
// goes forward one event at a time, and nothing of an earlier AMQP channel can arrive behind a successful open().
class AmqpChannel final : public PublishChannel {
 public:
  explicit AmqpChannel(std::shared_ptr<Link> link);
  ~AmqpChannel() override;

  std::optional<Failure> open(std::chrono::milliseconds deadline) override;
  bool is_open() const override;
  std::optional<std::string> blocked_reason() const override;
  void close() override;
  std::optional<Failure> check_exchange(std::string_view exchange, std::chrono::milliseconds deadline) override;
  void publish(std::span<const Publication> publications) override;
  void poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) override;
  void interrupt() noexcept override;
  void cancel() noexcept override;

 private:
  std::shared_ptr<Link> link_;
  std::shared_ptr<Waiter> waiter_;
  std::shared_ptr<Mailbox> mailbox_;
  bool open_ = false;
};

}  // namespace acemq::amqp
