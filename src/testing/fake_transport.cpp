#include "acemq/testing/fake_transport.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace acemq::testing {

namespace {
class FakeChannel;
using Kind = TransportEvent::Kind;
}  // namespace

struct FakeTransport::Broker {
  explicit Broker(ManualClock& the_clock) : clock(the_clock) {}

  // What script decides, called without the lock: a script may speak to the broker (block, drop_connections …).
  Answer decide(const Message& message, std::unique_lock<std::mutex>& lock);
  void end_connections(std::uint16_t code, const std::string& text);

  ManualClock& clock;
  mutable std::mutex mutex;  // guards everything below, and the state of all channels
  Script script;
  std::size_t answer_at_most = 0;
  std::string refusal;
  std::set<std::string, std::less<>> missing;
  bool blocked = false;
  std::string block_reason;
  std::map<std::string, std::size_t> copies;  // by message id
  std::vector<Message> published;
  std::size_t publishes = 0;
  std::size_t opened = 0;
  std::size_t checks = 0;
  std::set<FakeChannel*> channels;
};

namespace {

std::string no_exchange(std::string_view exchange) {
  return "NOT_FOUND - no exchange '" + std::string(exchange) + "' in vhost '/'";
}

class FakeChannel final : public PublishChannel {
 public:
  explicit FakeChannel(std::shared_ptr<FakeTransport::Broker> broker) : broker_(std::move(broker)) {
    const std::lock_guard lock(broker_->mutex);
    broker_->channels.insert(this);
  }
  ~FakeChannel() override {
    const std::lock_guard lock(broker_->mutex);
    broker_->channels.erase(this);
  }
  FakeChannel(const FakeChannel&) = delete;
  FakeChannel& operator=(const FakeChannel&) = delete;

  std::optional<Failure> open(std::chrono::milliseconds deadline) override;
  bool is_open() const override;
  std::optional<std::string> blocked_reason() const override;
  void close() override;
  std::optional<Failure> check_exchange(std::string_view exchange, std::chrono::milliseconds deadline) override;
  void publish(std::span<const Publication> publications) override;
  void poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) override;
  void interrupt() noexcept override;
  void cancel() noexcept override;

  // The next two are called under the broker's lock.
  void tell(TransportEvent event) {
    if (open_) events_.push_back(std::move(event));
  }
  // Confirms that were not handed out yet are lost, as RabbitMQ does not send them any more (DESIGN 5.2).
  void end(Kind kind, std::uint16_t code, const std::string& text);

 private:
  struct Sent {
    std::uint64_t ticket;
    Message message;
  };

  void answer(std::unique_lock<std::mutex>& lock);
  void settle(Sent sent, FakeTransport::Answer answer);

  std::shared_ptr<FakeTransport::Broker> broker_;
  bool open_ = false;   // at the broker
  bool ended_ = false;  // not open any more, and the event that says so is still to be handed out
  bool interrupted_ = false;
  bool cancelled_ = false;
  std::deque<Sent> sent_;  // not yet handled by the broker
  std::vector<TransportEvent> events_;
};

std::optional<Failure> FakeChannel::open(std::chrono::milliseconds /*deadline*/) {
  const std::lock_guard lock(broker_->mutex);
  if (open_ || ended_) return std::nullopt;
  if (cancelled_) return Failure{FailureClass::outage, 0, "cancelled", {}};
  if (!broker_->refusal.empty()) return Failure{FailureClass::outage, 0, broker_->refusal, {}};
  open_ = true;
  ++broker_->opened;
  if (broker_->blocked) tell({.kind = Kind::blocked, .text = broker_->block_reason});
  return std::nullopt;
}

bool FakeChannel::is_open() const {
  const std::lock_guard lock(broker_->mutex);
  return open_ || ended_;
}

std::optional<std::string> FakeChannel::blocked_reason() const {
  const std::lock_guard lock(broker_->mutex);
  if (!open_ || !broker_->blocked) return std::nullopt;
  return broker_->block_reason;
}

void FakeChannel::close() {
  std::unique_lock lock(broker_->mutex);
  ++broker_->checks;
  answer(lock);  // what was handed over is on the wire
  open_ = ended_ = false;
  sent_.clear();
  events_.clear();
}

std::optional<Failure> FakeChannel::check_exchange(std::string_view exchange, std::chrono::milliseconds deadline) {
  std::unique_lock lock(broker_->mutex);
  ++broker_->checks;
  answer(lock);  // what was published before is handled by the time that the answer is here, and may have ended the channel
  if (!open_ || cancelled_) return Failure{FailureClass::outage, 0, "not connected", {}};
  if (broker_->blocked) {  // RabbitMQ reads nothing from a blocked connection
    broker_->clock.advance(deadline);
    return Failure{FailureClass::outage, 0, "no answer from the broker", {}};
  }
  if (broker_->missing.count(exchange) == 0) return std::nullopt;
  return Failure{FailureClass::refusal, 404, "no such exchange '" + std::string(exchange) + "'", no_exchange(exchange)};
}

void FakeChannel::publish(std::span<const Publication> publications) {
  const std::lock_guard lock(broker_->mutex);
  broker_->publishes += publications.size();
  if (!open_) return;  // the event that says so is waiting, or was seen
  for (const Publication& each : publications) sent_.push_back({each.ticket, *each.message});
}

void FakeChannel::poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) {
  std::unique_lock lock(broker_->mutex);
  answer(lock);
  const bool interrupted = std::exchange(interrupted_, false);
  if (events_.empty()) {
    if (!interrupted && timeout.count() > 0) broker_->clock.advance(timeout);
    return;
  }
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
  ended_ = false;
}

void FakeChannel::interrupt() noexcept {
  const std::lock_guard lock(broker_->mutex);
  interrupted_ = true;
}

void FakeChannel::cancel() noexcept {
  const std::lock_guard lock(broker_->mutex);
  cancelled_ = true;
}

void FakeChannel::end(Kind kind, std::uint16_t code, const std::string& text) {
  if (!open_) return;
  open_ = false;
  ended_ = true;
  sent_.clear();
  std::erase_if(events_, [](const TransportEvent& event) { return event.kind == Kind::confirmed; });
  events_.push_back({.kind = kind, .code = code, .text = text});
}

void FakeChannel::answer(std::unique_lock<std::mutex>& lock) {
  std::size_t left = broker_->answer_at_most == 0 ? sent_.size() : broker_->answer_at_most;
  for (; left > 0 && !sent_.empty() && !broker_->blocked; --left) {
    Sent sent = std::move(sent_.front());
    sent_.pop_front();
    FakeTransport::Answer answer = broker_->decide(sent.message, lock);
    if (open_) settle(std::move(sent), std::move(answer));
  }
}

void FakeChannel::settle(Sent sent, FakeTransport::Answer answer) {
  using Verdict = FakeTransport::Answer::Kind;
  const auto report = [&](Kind kind) { events_.push_back({kind, sent.ticket, answer.code, answer.text}); };
  switch (answer.kind) {
    case Verdict::confirm:
      broker_->published.push_back(std::move(sent.message));
      return report(Kind::confirmed);
    case Verdict::drop:
      broker_->published.push_back(std::move(sent.message));
      return;
    case Verdict::unroutable:  // without mandatory the broker confirms and drops it (CONTRACT 0, fact 3)
      return report(sent.message.mandatory ? Kind::returned : Kind::confirmed);
    case Verdict::nack:
      return report(Kind::nacked);
    case Verdict::refuse:
      return report(Kind::refused);
    case Verdict::close_channel:
      return end(Kind::channel_closed, answer.code, answer.text);
    case Verdict::close_connection:
      return broker_->end_connections(answer.code, answer.text);
  }
}

}  // namespace

FakeTransport::Answer FakeTransport::Broker::decide(const Message& message, std::unique_lock<std::mutex>& lock) {
  const std::size_t copy = ++copies[message.message_id];
  if (missing.count(message.exchange) != 0) return Answer::close_channel(404, no_exchange(message.exchange));
  if (!script) return Answer::confirm();
  const Script decide = script;
  lock.unlock();
  Answer answer = decide(message, copy);
  lock.lock();
  return answer;
}

void FakeTransport::Broker::end_connections(std::uint16_t code, const std::string& text) {
  for (FakeChannel* channel : channels) channel->end(Kind::connection_lost, code, text);
}

FakeTransport::FakeTransport(ManualClock& clock) : broker_(std::make_shared<Broker>(clock)) {}
FakeTransport::~FakeTransport() = default;

void FakeTransport::script(Script script) {
  const std::lock_guard lock(broker_->mutex);
  broker_->script = std::move(script);
}

void FakeTransport::answer_at_most(std::size_t messages_per_poll) {
  const std::lock_guard lock(broker_->mutex);
  broker_->answer_at_most = messages_per_poll;
}

void FakeTransport::refuse_connections(std::string reason) {
  const std::lock_guard lock(broker_->mutex);
  broker_->refusal = std::move(reason);
  if (!broker_->refusal.empty()) broker_->end_connections(0, broker_->refusal);
}

void FakeTransport::missing_exchange(std::string exchange, bool missing) {
  const std::lock_guard lock(broker_->mutex);
  if (missing) {
    broker_->missing.insert(std::move(exchange));
  } else {
    broker_->missing.erase(exchange);
  }
}

void FakeTransport::block(std::string reason) {
  const std::lock_guard lock(broker_->mutex);
  broker_->blocked = true;
  broker_->block_reason = std::move(reason);
  for (FakeChannel* channel : broker_->channels) channel->tell({.kind = Kind::blocked, .text = broker_->block_reason});
}

void FakeTransport::unblock() {
  const std::lock_guard lock(broker_->mutex);
  if (!std::exchange(broker_->blocked, false)) return;
  for (FakeChannel* channel : broker_->channels) channel->tell({.kind = Kind::unblocked});
}

void FakeTransport::drop_connections(std::uint16_t code, const std::string& text) {
  const std::lock_guard lock(broker_->mutex);
  broker_->end_connections(code, text);
}

std::vector<Message> FakeTransport::published() const {
  const std::lock_guard lock(broker_->mutex);
  return broker_->published;
}

std::size_t FakeTransport::publishes() const {
  const std::lock_guard lock(broker_->mutex);
  return broker_->publishes;
}

std::size_t FakeTransport::opened() const {
  const std::lock_guard lock(broker_->mutex);
  return broker_->opened;
}

std::size_t FakeTransport::checks() const {
  const std::lock_guard lock(broker_->mutex);
  return broker_->checks;
}

std::unique_ptr<PublishChannel> FakeTransport::publish_channel() { return std::make_unique<FakeChannel>(broker_); }

std::string FakeTransport::description() const { return "a fake broker"; }

}  // namespace acemq::testing
