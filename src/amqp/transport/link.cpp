#include "amqp/transport/link.hpp"

#include <exception>
#include <utility>

#include "amqp/transport/quiet_thread.hpp"

namespace acemq::amqp {

Link::Link(Url url, AmqpOptions options) : url_(std::move(url)), options_(std::move(options)), endpoint_(endpoint(url_)) {}

Link::~Link() { stop(); }

void Link::stop() noexcept {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    if (io_ == nullptr) return;
  }
  wanted_.notify_one();
  io_->stop.raise();
  io_->kick.raise();
  if (io_->thread.joinable()) io_->thread.join();
}

void Link::interrupt(Waiter& waiter) noexcept {
  const Lock lock(mutex_);
  waiter.interrupted = true;
  waiter.changed.notify_all();
}

void Link::cancel(Waiter& waiter) noexcept {
  const Lock lock(mutex_);
  waiter.cancelled = true;
  waiter.changed.notify_all();
}

// --- connecting ---

bool Link::is_connected() const { return session_ != nullptr && session_->is_open(); }

void Link::start_attempt() {
  if (io_ == nullptr) {
    auto io = std::make_unique<Io>();
    io->thread = quiet_thread([this] { run(); });
    io_ = std::move(io);
  }
  attempt_ = std::make_shared<Attempt>();
  wanted_.notify_one();
}

std::optional<Failure> Link::connect(Lock& lock, const std::shared_ptr<Waiter>& waiter, Deadline deadline) {
  if (stopping_) return outage("the transport is closed");
  if (waiter->cancelled) return outage("cancelled");
  if (is_connected()) return std::nullopt;
  if (attempt_ == nullptr) {
    try {
      start_attempt();
    } catch (const std::exception& error) {
      return outage("cannot start connecting to " + endpoint_ + ": " + error.what());
    }
  }
  const auto attempt = attempt_;
  attempt->waiters.insert(waiter);
  waiter->changed.wait_until(lock, deadline, [&] { return attempt->done || waiter->cancelled; });
  if (!attempt->done && waiter->cancelled) return outage("cancelled while connecting to " + endpoint_);
  if (!attempt->done) return outage("not connected to " + endpoint_ + " in the time given");
  if (attempt->failure) return attempt->failure;
  // A broker that drops every new connection must not keep us here: one attempt per call.
  if (!is_connected()) return outage("connection to " + endpoint_ + " lost as soon as it was open");
  return std::nullopt;
}

// --- channels ---

bool Link::is_attached(const Mailbox& mailbox) const {
  const auto route = routes_.find(mailbox.channel);
  return route != routes_.end() && route->second.get() == &mailbox;
}

template <class Call>
void Link::send(Call&& call) {
  const bool thread_is_idle = session_->output().empty();
  call(*session_);
  if (thread_is_idle) io_->kick.raise();
}

std::variant<SessionEvent, Failure> Link::await_answer(Lock& lock, Mailbox& mailbox, Purpose purpose, Deadline deadline) {
  mailbox.answer.reset();
  mailbox.awaits_answer = true;
  if (!unanswered_since_) unanswered_since_ = SteadyClock::now();
  const auto is_blocked = [&] { return session_ != nullptr && session_->is_blocked(); };
  const bool patient = purpose == Purpose::publishing;
  mailbox.waiter->changed.wait_until(lock, deadline,
                                     [&] { return mailbox.answer || mailbox.waiter->cancelled || (!patient && is_blocked()); });
  mailbox.awaits_answer = false;
  if (mailbox.answer) {
    if (mailbox.answer->kind == SessionEvent::Kind::connection_closed) return closed_failure(*mailbox.answer);
    return *mailbox.answer;
  }
  if (mailbox.waiter->cancelled) return outage("cancelled while waiting for " + endpoint_);
  // A blocked broker has stopped reading and will answer later.
  if (is_blocked()) return blocked_failure();
  condemn_when_mute();
  return outage("no answer from " + endpoint_ + " in the time given");
}

// Some peers stay connected, even with heartbeats, and do nothing any more: questions that time out one after the other end the
// connection, so that the next open() makes a new one.
void Link::condemn_when_mute() {
  if (!unanswered_since_ || SteadyClock::now() - *unanswered_since_ < options_.login_timeout) return;
  condemned_ = "answered nothing for " + spell(options_.login_timeout);
  io_->kick.raise();
}

std::optional<Failure> Link::open_channel(Lock& lock, const std::shared_ptr<Mailbox>& mailbox, Purpose purpose,
                                          Deadline deadline) {
  const auto channel = session_->free_channel();
  if (!channel) return outage("every channel of the connection to " + endpoint_ + " is in use");
  mailbox->channel = *channel;
  routes_[*channel] = mailbox;
  send([&](Session& session) { session.open_channel(*channel, purpose == Purpose::publishing); });

  auto answer = await_answer(lock, *mailbox, purpose, deadline);
  if (auto* failure = std::get_if<Failure>(&answer)) {
    abandon(*mailbox);
    return std::move(*failure);
  }
  auto& event = std::get<SessionEvent>(answer);
  if (event.kind == SessionEvent::Kind::channel_opened) return std::nullopt;
  Failure failure = outage("channel refused by " + endpoint_);
  failure.code = event.code;
  failure.server_text = std::move(event.text);
  return failure;
}

void Link::abandon(const Mailbox& mailbox) {
  if (!is_attached(mailbox)) return;
  routes_.erase(mailbox.channel);
  if (is_connected()) send([&](Session& session) { session.close_channel(mailbox.channel); });
}

std::optional<Failure> Link::open(const std::shared_ptr<Mailbox>& mailbox, Deadline deadline) {
  Lock lock(mutex_);
  if (auto failure = connect(lock, mailbox->waiter, deadline)) return failure;
  return open_channel(lock, mailbox, Purpose::publishing, deadline);
}

void Link::close(Mailbox& mailbox) noexcept {
  const Lock lock(mutex_);
  abandon(mailbox);
  mailbox.events.clear();
}

std::optional<std::string> Link::blocked_reason(const Mailbox& mailbox) const {
  const Lock lock(mutex_);
  if (!is_attached(mailbox) || !session_->is_blocked()) return std::nullopt;
  return blocked_reason_;
}

// --- publishing ---

void Link::publish(Mailbox& mailbox, std::span<const Publication> publications) {
  const Lock lock(mutex_);
  if (!is_attached(mailbox) || !is_connected()) return;  // in doubt, as an event says, said or is about to say
  send([&](Session& session) {
    for (const Publication& publication : publications) {
      auto refusal = session.publish(mailbox.channel, *publication.message, publication.ticket);
      if (refusal)
        mailbox.events.push_back(
            {.kind = TransportEvent::Kind::refused, .ticket = publication.ticket, .code = 0, .text = std::move(*refusal)});
    }
  });
}

void Link::collect(Mailbox& mailbox, std::vector<TransportEvent>& events, Deadline deadline) {
  Lock lock(mutex_);
  if (mailbox.events.empty() && SteadyClock::now() < deadline) {
    Waiter& waiter = *mailbox.waiter;
    waiter.changed.wait_until(lock, deadline, [&] { return !mailbox.events.empty() || waiter.interrupted; });
    // An interruption is used up only by a wait that it may have ended.
    if (mailbox.events.empty()) waiter.interrupted = false;
  }
  if (events.empty()) {
    events.swap(mailbox.events);
  } else {
    events.insert(events.end(), std::make_move_iterator(mailbox.events.begin()), std::make_move_iterator(mailbox.events.end()));
    mailbox.events.clear();
  }
}

// --- requests ---

std::optional<Failure> Link::request(const std::shared_ptr<Waiter>& waiter, Deadline deadline, const Ask& ask) {
  Lock lock(mutex_);
  if (auto failure = connect(lock, waiter, deadline)) return failure;
  return ask_broker(lock, waiter, deadline, ask);
}

std::optional<Failure> Link::request_beside(const Mailbox& mailbox, Deadline deadline, const Ask& ask) {
  Lock lock(mutex_);
  if (mailbox.waiter->cancelled) return outage("cancelled");
  if (!is_attached(mailbox) || !is_connected()) return outage("not connected to " + endpoint_);
  return ask_broker(lock, mailbox.waiter, deadline, ask);
}

std::optional<Failure> Link::ask_broker(Lock& lock, const std::shared_ptr<Waiter>& waiter, Deadline deadline, const Ask& ask) {
  if (session_->is_blocked()) return blocked_failure();
  const auto mailbox = std::make_shared<Mailbox>(waiter);
  if (spare_) {
    mailbox->channel = *std::exchange(spare_, std::nullopt);
    routes_[mailbox->channel] = mailbox;
  } else if (auto failure = open_channel(lock, mailbox, Purpose::requests, deadline)) {
    return failure;
  }
  if (!is_attached(*mailbox)) return outage("connection to " + endpoint_ + " lost");
  send([&](Session& session) { ask(session, mailbox->channel, ++last_request_); });
  auto answer = await_answer(lock, *mailbox, Purpose::requests, deadline);
  if (auto* failure = std::get_if<Failure>(&answer)) {
    abandon(*mailbox);
    return std::move(*failure);
  }
  auto& event = std::get<SessionEvent>(answer);
  if (event.kind != SessionEvent::Kind::done)
    return Failure{.failure_class = FailureClass::refusal,
                   .code = event.code,
                   .reason = "refused by " + endpoint_,
                   .server_text = std::move(event.text)};
  if (spare_) {
    abandon(*mailbox);
  } else if (is_attached(*mailbox)) {
    routes_.erase(mailbox->channel);
    spare_ = mailbox->channel;
  }
  return std::nullopt;
}

// --- words ---

Failure Link::outage(std::string reason) const {
  return {.failure_class = FailureClass::outage, .reason = std::move(reason), .server_text = {}};
}

Failure Link::blocked_failure() const {
  Failure failure = outage("blocked by " + endpoint_);
  failure.server_text = blocked_reason_;
  return failure;
}

Failure Link::closed_failure(const SessionEvent& event) const {
  // Without a code the words are the session's own.
  if (event.code == 0) return outage(endpoint_ + ": " + event.text);
  Failure failure = outage("connection closed by " + endpoint_);
  failure.code = event.code;
  failure.server_text = event.text;
  return failure;
}

// Why the broker did not let us in.
Failure Link::login_failure(const SessionEvent& event) const {
  constexpr std::uint16_t kAccessRefused = 403;
  constexpr std::uint16_t kNotAllowed = 530;
  if (event.code == 0) return outage("cannot log in at " + endpoint_ + ": " + event.text);
  Failure failure = closed_failure(event);
  if (event.code == kAccessRefused) failure.reason = "login refused by " + endpoint_ + " for user '" + url_.user + "'";
  if (event.code == kNotAllowed)
    failure.reason = "vhost '" + url_.vhost + "' refused by " + endpoint_ + " for user '" + url_.user + "'";
  return failure;
}

}  // namespace acemq::amqp
