// The thread of a link: dials, then turns between the socket and the session until the connection ends.
#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <poll.h>

#include "amqp/transport/dialer.hpp"
#include "amqp/transport/link.hpp"

namespace acemq::amqp {
namespace {

// One read or write moves at most this much, so that neither direction waits long for the other, nor callers for the mutex.
constexpr std::size_t kReadBytesMax = 64 * 1024;
constexpr std::size_t kWriteBytesMax = 256 * 1024;
constexpr std::chrono::seconds kGoodbyeMax{1};

TimePoint now() { return SteadyClock::now().time_since_epoch(); }

SessionOptions session_options(const Url& url, const AmqpOptions& options) {
  return {.user = url.user,
          .password = url.password,
          .vhost = url.vhost,
          .client_name = options.client_name,
          .heartbeat = options.heartbeat,
          .frame_max = options.frame_max,
          .channel_max = options.channel_max,
          .handshake_timeout = options.handshake_timeout,
          .login_timeout = options.login_timeout,
          .close_timeout = kGoodbyeMax};
}

TransportEvent to_transport_event(SessionEvent event) {
  using From = SessionEvent::Kind;
  using To = TransportEvent::Kind;
  To kind = To::connection_lost;
  switch (event.kind) {
    case From::confirmed:
      kind = To::confirmed;
      break;
    case From::returned:
      kind = To::returned;
      break;
    case From::nacked:
      kind = To::nacked;
      break;
    case From::channel_closed:
      kind = To::channel_closed;
      break;
    case From::blocked:
      kind = To::blocked;
      break;
    case From::unblocked:
      kind = To::unblocked;
      break;
    case From::opened:
    case From::channel_opened:
    case From::done:
    case From::connection_closed:
      break;
  }
  return {.kind = kind, .ticket = event.ticket, .code = event.code, .text = std::move(event.text)};
}

}  // namespace

void Link::run() noexcept {
  Dialer dialer(url_, options_.connect_timeout);
  while (wait_for_attempt()) {
    std::string failure;
    try {
      const Dialed dialed = dialer.dial(io_->stop);
      if (dialed.stream != nullptr) serve(*dialed.stream);
      failure = dialed.failure;
    } catch (const std::exception& error) {
      failure = error.what();
    }
    // Nothing is left to end after an ordinary connection.
    Lock lock(mutex_);
    if (session_ != nullptr) end_session({.kind = SessionEvent::Kind::connection_closed, .text = failure});
    if (attempt_ != nullptr && !failure.empty()) finish_attempt(outage(std::move(failure)));
    notify(lock);
  }
}

// Sleeps while nobody needs a connection; false at the end.
bool Link::wait_for_attempt() {
  Lock lock(mutex_);
  wanted_.wait(lock, [&] { return stopping_ || attempt_ != nullptr; });
  const bool is_the_end = stopping_;
  if (is_the_end) finish_attempt(outage("the transport is closed"));
  notify(lock);
  return !is_the_end;
}

void Link::serve(ByteStream& stream) {
  {
    const Lock lock(mutex_);
    session_ = std::make_unique<Session>(session_options(url_, options_), now());
    unanswered_since_.reset();
    condemned_.clear();
  }
  std::vector<char> buffer(kReadBytesMax);
  Transfer input;
  for (;;) {
    const Turn turn = take_turn(stream, std::string_view(buffer.data(), input.bytes), input.failure);
    if (turn.over) return;
    const short wanted = turn.has_output ? POLLIN | POLLOUT : POLLIN;
    std::array<pollfd, 2> waiting{{{.fd = stream.descriptor(), .events = wanted, .revents = 0},
                                   {.fd = io_->kick.descriptor(), .events = POLLIN, .revents = 0}}};
    // When poll() fails nothing is ready, and the next turn is harmless.
    ::poll(waiting.data(), waiting.size(), poll_timeout_ms(turn.next));
    if (waiting[1].revents != 0) io_->kick.lower();
    const bool readable = (waiting[0].revents & ~POLLOUT) != 0;
    input = readable ? stream.read_some(buffer.data(), buffer.size()) : Transfer{};
  }
}

// Tells the session what happened, sends what it wants to send and hands out its events.
Link::Turn Link::take_turn(ByteStream& stream, std::string_view received, const std::string& failure) {
  Lock lock(mutex_);
  const TimePoint time = now();
  if (!received.empty()) session_->receive(received, time);
  if (!failure.empty()) session_->connection_lost(failure);
  if (!condemned_.empty()) session_->connection_lost(std::exchange(condemned_, {}));
  if (stopping_) say_goodbye(time);
  if (session_->next_deadline() <= time) session_->tick(time);
  flush(stream, time);
  dispatch();
  const bool over = session_ == nullptr;
  const Turn turn =
      over ? Turn{.over = true} : Turn{.has_output = !session_->output().empty(), .next = Deadline(session_->next_deadline())};
  notify(lock);
  return turn;
}

void Link::say_goodbye(TimePoint time) {
  if (std::exchange(goodbye_said_, true)) return;
  if (session_->is_open())
    session_->close(time);
  else
    session_->connection_lost("the transport was closed");
}

void Link::flush(ByteStream& stream, TimePoint time) {
  const std::string_view output = session_->output().substr(0, kWriteBytesMax);
  if (output.empty()) return;
  const Transfer written = stream.write_some(output);
  if (written.bytes > 0) session_->sent(written.bytes, time);
  if (written.failure.empty()) return;
  // The broker may have said why before it hung up, and what it said is still there to read.
  std::vector<char> buffer(kReadBytesMax);
  const Transfer last = stream.read_some(buffer.data(), buffer.size());
  session_->receive(std::string_view(buffer.data(), last.bytes), time);
  session_->connection_lost(written.failure);
}

// --- events ---

void Link::dispatch() {
  for (SessionEvent& event : session_->take_events()) {
    switch (event.kind) {
      case SessionEvent::Kind::opened:
        finish_attempt(std::nullopt);
        break;
      case SessionEvent::Kind::connection_closed:
        end_session(event);
        return;
      case SessionEvent::Kind::blocked:
        blocked_reason_ = event.text;
        deliver_to_all(event);
        break;
      case SessionEvent::Kind::unblocked:
        deliver_to_all(event);
        break;
      case SessionEvent::Kind::channel_closed:
        if (spare_ == event.channel) spare_.reset();
        [[fallthrough]];
      default:
        if (const auto route = routes_.find(event.channel); route != routes_.end()) {
          const auto mailbox = route->second;
          if (event.kind == SessionEvent::Kind::channel_closed) routes_.erase(route);
          deliver(mailbox, std::move(event));
        }
    }
  }
}

void Link::deliver(const std::shared_ptr<Mailbox>& mailbox, SessionEvent event) {
  using Kind = SessionEvent::Kind;
  const bool is_alarm = event.kind == Kind::blocked || event.kind == Kind::unblocked;
  if (!is_alarm) unanswered_since_.reset();
  news_.insert(mailbox->waiter);
  if (mailbox->awaits_answer) {
    if (is_alarm) return;
    mailbox->awaits_answer = false;
    const bool opened = event.kind == Kind::channel_opened;
    mailbox->answer = std::move(event);
    if (opened && session_->is_blocked())
      mailbox->events.push_back({.kind = TransportEvent::Kind::blocked, .text = blocked_reason_});
    return;
  }
  // However often the alarm comes and goes while nobody looks, only its last state is kept.
  const bool last_is_alarm = !mailbox->events.empty() && (mailbox->events.back().kind == TransportEvent::Kind::blocked ||
                                                          mailbox->events.back().kind == TransportEvent::Kind::unblocked);
  if (is_alarm && last_is_alarm) mailbox->events.pop_back();
  mailbox->events.push_back(to_transport_event(std::move(event)));
}

void Link::deliver_to_all(const SessionEvent& event) {
  for (const auto& [channel, mailbox] : routes_) deliver(mailbox, event);
}

void Link::finish_attempt(std::optional<Failure> failure) {
  if (attempt_ == nullptr) return;
  attempt_->done = true;
  attempt_->failure = std::move(failure);
  news_.merge(attempt_->waiters);
  attempt_.reset();
}

void Link::end_session(const SessionEvent& event) {
  deliver_to_all(event);
  routes_.clear();
  spare_.reset();
  session_.reset();
  finish_attempt(login_failure(event));
}

void Link::notify(Lock& lock) {
  const auto news = std::exchange(news_, {});
  lock.unlock();
  for (const auto& waiter : news) waiter->changed.notify_all();
}

}  // namespace acemq::amqp
