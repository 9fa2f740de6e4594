#include "publish/window.hpp"

#include <algorithm>
#include <utility>

#include "message/reply_code.hpp"

namespace acemq::publish {
namespace {

constexpr std::size_t kKnownExchangesMax = 10'000;

// With others in flight it may have been one of those.
Failure failure_of_end(const TransportEvent& event, bool alone) {
  const bool channel_only = event.kind == TransportEvent::Kind::channel_closed;
  const bool by_message =
      channel_only ? message::closes_channel_over_message(event.code) : message::closes_connection_over_message(event.code);
  const char* reason = channel_only      ? "the broker closed the channel"
                       : event.code == 0 ? "the connection was lost"
                                         : "the broker closed the connection";
  return {.failure_class = !by_message ? FailureClass::in_doubt
                           : alone     ? FailureClass::refusal
                                       : FailureClass::suspect,
          .code = event.code,
          .reason = reason,
          .server_text = event.text};
}

}  // namespace

Job::Job(std::span<const Message> the_messages) : messages(the_messages) {
  outcomes.reserve(messages.size());
  for (const Message& message : messages) {
    outcomes.push_back({PublishOutcome::Kind::failed, message.message_id,
                        Failure{.failure_class = FailureClass::in_doubt, .reason = "the transport broke down"}});
  }
}

Window::Window(std::unique_ptr<PublishChannel> channel, const Clock& clock, Limits limits)
    : channel_(std::move(channel)), clock_(clock), limits_(limits) {}

bool Window::remove_finished() {
  return std::erase_if(jobs_, [](Job* job) { return job->done = job->finished(); }) > 0;
}

void Window::abandon() noexcept {
  try {
    channel_->close();
  } catch (...) {  // it could not even be closed; a later round finds out
  }
  for (Job* job : std::exchange(jobs_, {})) job->done = true;
  flights_.clear();
  publications_.clear();
  flying_bytes_ = forsaken_ = 0;
}

// --- send ---

void Window::send() {
  const bool has_unsent = std::any_of(jobs_.begin(), jobs_.end(), [](const Job* job) { return !job->all_sent(); });
  if (!has_unsent || !make_ready()) return;
  missing_exchanges_.clear();
  send_in_turn();
  hand_over();
  const Instant give_up_at = clock_.since_boot() + limits_.confirm_timeout;
  for (Job* job : jobs_) {
    if (!job->give_up_at) job->give_up_at = give_up_at;
  }
}

bool Window::make_ready() {
  if (!channel_->is_open()) {
    if (!flights_.empty()) return false;  // the event that ends them is still to come
    known_exchanges_.clear();
    if (const auto failure = channel_->open(limits_.open_timeout)) {
      refuse_unsent(*failure);
      return false;
    }
  }
  if (!channel_->is_blocked()) return true;
  refuse_unsent(blocked());
  return false;
}

// One of each job in turn: a large batch does not keep others waiting.
void Window::send_in_turn() {
  for (bool more = true; more;) {
    more = false;
    for (Job* job : jobs_) more |= !job->all_sent() && send_next(*job);
  }
}

// Whether to go on with this job.
bool Window::send_next(Job& job) {
  const Message& message = job.messages[job.next];
  if (!has_room(message)) return false;
  if (const auto failure = check_exchange(message.exchange)) {
    if (failure->failure_class == FailureClass::refusal) {
      settle(job, job.next++, Kind::refused, *failure);
      return true;
    }
    channel_->is_blocked() ? refuse_unsent(blocked()) : give_up_channel(*failure);
    return false;
  }
  const std::size_t bytes = message.body.size();
  flights_.emplace(++last_ticket_, Flight{&job, job.next++, bytes});
  flying_bytes_ += bytes;
  publications_.push_back({.ticket = last_ticket_, .message = &message});
  return true;
}

void Window::hand_over() {
  if (!publications_.empty()) channel_->publish(publications_);
  publications_.clear();
}

bool Window::has_room(const Message& message) const {
  return flights_.empty() || (flights_.size() < limits_.messages_max && flying_bytes_ + message.body.size() <= limits_.bytes_max);
}

// A missing exchange would close the channel, and leave every neighbour in doubt. Asked once in a pass, however many name it.
std::optional<Failure> Window::check_exchange(const std::string& exchange) {
  if (exchange.empty() || known_exchanges_.contains(exchange)) return std::nullopt;
  if (const auto found = missing_exchanges_.find(exchange); found != missing_exchanges_.end()) return found->second;
  hand_over();  // what comes before does not wait for the answer
  auto failure = channel_->check_exchange(exchange, limits_.open_timeout);
  if (!failure) {
    if (known_exchanges_.size() >= kKnownExchangesMax) known_exchanges_.clear();
    known_exchanges_.insert(exchange);
  } else if (failure->failure_class == FailureClass::refusal) {
    missing_exchanges_.emplace(exchange, *failure);
  }
  return failure;
}

// --- settle ---

void Window::receive() {
  std::optional<Instant> until;
  for (const Job* job : jobs_) {
    if (job->finished()) return;  // its caller does not wait for the others
    if (job->give_up_at && (!until || *job->give_up_at < *until)) until = job->give_up_at;
  }
  if (!until) return;
  poll(std::max(Instant{0}, *until - clock_.since_boot()));
  give_up_overdue();
}

void Window::poll(std::chrono::nanoseconds timeout) {
  events_.clear();
  channel_->poll(events_, timeout);
  for (const TransportEvent& event : events_) handle(event);
}

void Window::handle(const TransportEvent& event) {
  switch (event.kind) {
    case TransportEvent::Kind::confirmed:
    case TransportEvent::Kind::returned:
    case TransportEvent::Kind::nacked:
    case TransportEvent::Kind::refused:
      return answered(event);
    case TransportEvent::Kind::channel_closed:
    case TransportEvent::Kind::connection_lost:
      return ended(event);
    case TransportEvent::Kind::blocked:  // only end the wait: the channel knows its state
    case TransportEvent::Kind::unblocked:
      return;
  }
}

void Window::answered(const TransportEvent& event) {
  const auto found = flights_.find(event.ticket);
  if (found == flights_.end()) return;
  const Flight flight = found->second;
  flights_.erase(found);
  flying_bytes_ -= flight.bytes;
  if (flight.job == nullptr) {
    --forsaken_;
    return;
  }
  Job& job = *flight.job;
  job.give_up_at = clock_.since_boot() + limits_.confirm_timeout;
  Failure failure{.code = event.code, .server_text = event.text};
  switch (event.kind) {
    case TransportEvent::Kind::returned:
      failure.failure_class = FailureClass::refusal;
      failure.reason = "returned by the broker: no queue is bound for it";
      return settle(job, flight.index, Kind::unroutable, std::move(failure));
    case TransportEvent::Kind::nacked:
      failure.failure_class = FailureClass::overload;
      failure.reason = "refused by the broker: queue full or unavailable";
      return settle(job, flight.index, Kind::failed, std::move(failure));
    case TransportEvent::Kind::refused:
      return settle(job, flight.index, Kind::refused,
                    {.failure_class = FailureClass::refusal, .reason = "over a limit of the connection: " + event.text});
    default:
      ++job.settled;
      job.outcomes[flight.index] = {.kind = Kind::confirmed, .id = std::move(job.outcomes[flight.index].id)};
  }
}

void Window::ended(const TransportEvent& event) {
  const Failure failure = failure_of_end(event, flights_.size() == 1);
  for (const auto& [ticket, flight] : flights_) {
    if (flight.job != nullptr) settle(*flight.job, flight.index, Kind::failed, failure);
  }
  flights_.clear();
  flying_bytes_ = forsaken_ = 0;
}

void Window::settle(Job& job, std::size_t index, Kind kind, Failure failure) {
  ++job.settled;
  job.outcomes[index].kind = kind;
  job.outcomes[index].failure = std::move(failure);
}

void Window::refuse_unsent(const Failure& failure) {
  for (Job* job : jobs_) refuse_unsent(*job, failure);
}

void Window::refuse_unsent(Job& job, const Failure& failure) {
  while (!job.all_sent()) settle(job, job.next++, Kind::refused, failure);
}

void Window::give_up_overdue() {
  const Instant now = clock_.since_boot();
  for (Job* job : jobs_) {
    if (!job->finished() && job->give_up_at <= now) give_up(*job);
  }
  // Others may still get their answers on this channel. Once nobody waits for any, those that never came must not count for ever.
  if (forsaken_ > 0 && forsaken_ == flights_.size()) {
    channel_->close();
    flights_.clear();
    flying_bytes_ = forsaken_ = 0;
  }
}

void Window::give_up(Job& job) {
  for (auto& [ticket, flight] : flights_) {
    if (flight.job != &job) continue;
    settle(job, flight.index, Kind::failed, {.failure_class = FailureClass::in_doubt, .reason = "not confirmed in time"});
    flight.job = nullptr;
    ++forsaken_;
  }
  refuse_unsent(job, {.failure_class = FailureClass::outage, .reason = "too many unconfirmed messages before it"});
}

void Window::give_up_channel(const Failure& failure) {
  channel_->close();
  ended({.kind = TransportEvent::Kind::connection_lost, .text = failure.reason});
  refuse_unsent(failure);
}

Failure Window::blocked() const {
  return {.failure_class = FailureClass::outage, .reason = "blocked by the broker: " + channel_->blocked_reason().value_or("")};
}

}  // namespace acemq::publish
