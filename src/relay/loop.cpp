#include "relay/loop.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/uuid.hpp"

namespace acemq::relay {
namespace {

constexpr std::chrono::seconds kExchangeCheckTimeout{10};
// Marks wait this long for company, or for the next claim: one transaction for many messages.
constexpr std::chrono::milliseconds kMarksWait{10};
constexpr std::size_t kClaimRowsMax = 10'000;
constexpr std::size_t kKnownExchangesMax = 10'000;

WindowOptions window_options(const outbox::RelayOptions& options) {
  return {.messages_max = options.window,
          .bytes_max = options.window_bytes,
          .attempts_max = options.attempts_max,
          .confirm_timeout = options.confirm_timeout,
          .ordering = options.ordering,
          .on_failure = options.on_failure};
}

}  // namespace

Loop::Loop(std::shared_ptr<outbox::Store> store, std::shared_ptr<Transport> transport, outbox::RelayOptions options)
    : store_(std::move(store)),
      transport_(std::move(transport)),
      options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock()),
      random_(options_.random != nullptr ? *options_.random : system_random()),
      channel_(transport_->publish_channel()),
      without_mandatory_(options_.exchanges_without_mandatory.begin(), options_.exchanges_without_mandatory.end()),
      window_(window_options(options_)) {}

// --- drivers ---

void Loop::round() {
  tell_time();
  open_channel();
  write_failures();
  renew_leases();
  send();  // what is at hand, before the database takes its time
  claim_and_mark(Claiming::by_need);
  send();
  update_state();
  publish_stats();
  await(next_due());
}

std::size_t Loop::sweep() {
  sweeping_ = true;
  first_failure_ = nullptr;
  const std::uint64_t published_before = stats_.published;
  open_retry_at_ = store_retry_at_ = Instant{0};  // whoever sweeps wants an attempt now
  tell_time();
  if (open_channel() && !refuse_blocked_sweep()) {
    claim_and_mark(Claiming::once);
    settle_everything();
  }
  give_back(true, {});
  write_failures();
  claim_and_mark(Claiming::never);
  update_state();
  publish_stats();
  sweeping_ = false;
  if (first_failure_) std::rethrow_exception(std::exchange(first_failure_, nullptr));
  return static_cast<std::size_t>(stats_.published - published_before);
}

void Loop::settle_everything() {
  const Instant patience = now_ + options_.confirm_timeout;  // with a broker that asks for silence
  gave_up_channel_ = false;
  while (!window_.empty()) {
    send();
    if (window_.in_flight() == 0 && channel_->is_open()) return;  // what is left cannot be sent now
    if (channel_->is_blocked() && now_ >= patience) return give_up_channel(Incident::blocked);
    if (window_.in_flight() > 0) await(window_.next_instant().value_or(patience));
    write_failures();
    renew_leases();
    if (gave_up_channel_) return;
    open_retry_at_ = Instant{0};
    if (!open_channel()) return;
  }
}

bool Loop::refuse_blocked_sweep() {
  const auto reason = channel_->blocked_reason();
  if (!reason) return false;
  report_failure({.failure_class = FailureClass::outage, .reason = "blocked by the broker: " + *reason});
  return true;
}

void Loop::drain() {
  tell_time();
  set_state(RelayState::closing);
  const Instant deadline = now_ + options_.close_timeout;
  let_go(false);
  while (window_.in_flight() > 0 && channel_->is_open() && now_ < deadline) {
    await(std::min(deadline, window_.next_instant().value_or(deadline)));
    let_go(false);
    renew_leases();
    claim_and_mark(Claiming::never);
  }
  store_retry_at_ = Instant{0};  // the last chance
  let_go(true);
  write_failures();
  claim_and_mark(Claiming::never);
  channel_->close();
  set_state(RelayState::stopped);
  publish_stats();
}

// For good: no answer is awaited any more.
void Loop::let_go(bool in_flight_too) {
  stats_.unanswered += window_.in_doubt() + (in_flight_too ? window_.in_flight() : 0);
  give_back(in_flight_too, {});
}

void Loop::stop() noexcept {
  stopping_ = true;
  channel_->cancel();
  channel_->interrupt();
}

void Loop::wake() noexcept {
  woken_ = true;
  channel_->interrupt();
}

// --- claim and mark ---

void Loop::claim_and_mark(Claiming claiming) {
  const bool claims = claiming == Claiming::once || (claiming == Claiming::by_need && can_claim() && claim_due() <= now_);
  if (!claims && !marks_are_due(claiming)) return;
  with_store([&] {
    if (!claims) {
      store_->mark_published(marks_);
    } else {
      woken_ = false;
      more_ = true;  // should the claim fail
      const outbox::Claim claim = next_claim();
      const Instant sent = clock_.since_boot();  // a lease runs from before the claim was sent
      admit(store_->mark_and_claim(marks_, claim), claim, sent);
    }
    marks_.clear();
  });
}

bool Loop::can_claim() const {
  const std::size_t rows_wanted = std::min(options_.batch, std::max<std::size_t>(1, options_.window / 2));
  return channel_->is_open() && !channel_->is_blocked() && !window_.isolating() && now_ >= store_retry_at_ &&
         now_ >= window_.claims_resume() && window_.rows_room() >= rows_wanted && window_.bytes_room() > 0;
}

Instant Loop::claim_due() const {
  if (more_ || woken_) return now_;
  return std::min(poll_at_, pace_.unfinished().value_or(poll_at_));
}

bool Loop::marks_are_due(Claiming claiming) const {
  if (marks_.empty() || now_ < store_retry_at_) return false;
  return claiming == Claiming::never || marks_.size() >= options_.batch || now_ >= marks_due_;
}

outbox::Claim Loop::next_claim() {
  const std::size_t room = window_.rows_room();
  const std::size_t batches = std::max<std::size_t>(1, room / options_.batch);
  return {.token = base::new_uuid(random_),
          .rows_max = std::min({sweeping_ ? options_.batch : batches * options_.batch, room, kClaimRowsMax}),
          .bytes_max = window_.bytes_room(),
          .lease = options_.lease,
          .attempts_max = options_.attempts_max,
          .created_from = pace_.start(now_)};
}

void Loop::admit(std::vector<outbox::Row> rows, const outbox::Claim& claim, Instant sent) {
  tell_time();
  ++stats_.claims;
  more_ = !rows.empty();
  poll_at_ = now_ + options_.interval;
  const auto last = rows.empty() ? std::nullopt : std::optional(rows.back().created_at);
  pace_.claimed(claim.created_from, last, sent, now_);
  for (outbox::Row& row : rows) window_.admit(std::move(row), claim.token, sent + options_.lease, sent + options_.lease / 2);
}

// --- send ---

void Loop::send() {
  if (!channel_->is_open() || channel_->is_blocked()) return;
  std::map<std::string, Failure> missing;  // asked once in this pass, however many records name it
  window_.begin_pass();
  while (HeldRecord* record = window_.next()) {
    Message& message = record->message;
    if (!record->defect.empty()) {
      window_.refuse(*record, Incident::undecodable, {.failure_class = FailureClass::refusal, .reason = record->defect});
      continue;
    }
    if (!missing.contains(message.exchange)) {
      if (auto failure = check_exchange(message.exchange)) missing.emplace(message.exchange, std::move(*failure));
    }
    if (const auto found = missing.find(message.exchange); found != missing.end()) {
      if (found->second.failure_class != FailureClass::refusal) {
        window_.skip(*record);
        if (!channel_->is_blocked()) give_up_channel(Incident::connection_lost, found->second.reason);
        break;
      }
      window_.refuse(*record, Incident::missing_exchange, found->second);
      continue;
    }
    message.mandatory = !without_mandatory_.contains(message.exchange);
    publications_.push_back({.ticket = record->ticket, .message = &message});
    window_.sent(*record);
  }
  publish();
  take_settlement();
}

void Loop::publish() {
  if (publications_.empty()) return;
  channel_->publish(publications_);
  publications_.clear();
}

std::optional<Failure> Loop::check_exchange(const std::string& exchange) {
  if (exchange.empty() || known_exchanges_.contains(exchange)) return std::nullopt;
  publish();  // what comes before does not wait for the answer
  auto failure = channel_->check_exchange(exchange, kExchangeCheckTimeout);
  tell_time();
  if (!failure) {
    if (known_exchanges_.size() >= kKnownExchangesMax) known_exchanges_.clear();
    known_exchanges_.insert(exchange);
  }
  return failure;
}

// --- settle ---

void Loop::await(Instant until) {
  if (!window_.empty()) until = std::min(until, renewal_at_);
  settle_events(std::max(Instant{0}, until - now_));
  channel_->is_blocked() ? window_.blocked() : window_.unblocked();
  if (window_.is_overdue()) give_up_channel(Incident::confirm_timeout);
  take_settlement();
}

void Loop::settle_events(Instant timeout) {
  events_.clear();
  channel_->poll(events_, timeout);
  tell_time();
  for (const TransportEvent& event : events_) settle(event);
}

void Loop::settle(const TransportEvent& event) {
  using Kind = TransportEvent::Kind;
  switch (event.kind) {
    case Kind::confirmed:
      return window_.confirmed(event.ticket);
    case Kind::returned:
      return window_.failed(event.ticket, Incident::returned, event.code, event.text);
    case Kind::nacked:
      return window_.failed(event.ticket, Incident::nacked, 0, {});
    case Kind::refused:
      return window_.failed(event.ticket, Incident::over_limit, 0, event.text);
    case Kind::channel_closed:
      return end_channel(Incident::channel_closed, event.code, event.text);
    case Kind::connection_lost:
      return end_channel(event.code != 0 ? Incident::connection_closed : Incident::connection_lost, event.code, event.text);
    case Kind::blocked:  // only end the wait: the channel knows its state
    case Kind::unblocked:
      return;
  }
}

void Loop::end_channel(Incident incident, std::uint16_t code, std::string_view text) {
  constexpr std::uint16_t kNotFound = 404;
  // A new channel of the same connection finds the same exchanges, and asking for each again would hold up everything.
  if (incident != Incident::channel_closed || code == kNotFound) known_exchanges_.clear();
  const std::size_t unconfirmed = window_.in_flight();
  window_.channel_ended(incident, code, text);
  if (unconfirmed == 0) return;
  const Verdict verdict = judge(incident, {.code = code});
  report_failure({.failure_class = verdict.failure_class,
                  .code = code,
                  .reason = std::string(to_words(incident)) + " with " + std::to_string(unconfirmed) + " messages unconfirmed",
                  .server_text = std::string(text)});
}

void Loop::give_up_channel(Incident incident, std::string_view why) {
  settle_events(Instant{0});
  if (!channel_->is_open()) return;  // it had ended by itself, and the broker said why
  gave_up_channel_ = true;
  channel_->close();
  known_exchanges_.clear();
  if (incident == Incident::confirm_timeout) {
    const std::size_t unconfirmed = window_.in_flight();
    window_.confirms_overdue();
    report_failure({.failure_class = FailureClass::in_doubt,
                    .reason = std::string(to_words(incident)) + ", of " + std::to_string(unconfirmed) + " unconfirmed messages"});
    return;
  }
  end_channel(incident, 0, why);
}

void Loop::take_settlement() {
  Settlement settlement = window_.take_settlement();
  if (marks_.empty()) marks_due_ = now_ + kMarksWait;
  for (Settlement::Delivery& delivery : settlement.deliveries) {
    ++stats_.published;
    report_delivery(delivery);
    marks_.push_back(std::move(delivery.id));
  }
  for (std::size_t i = 0; i < settlement.failures.size(); ++i) stats_.failed[i] += settlement.failures[i];
  stats_.resent += settlement.resent;
  stats_.overtaken = window_.overtaken();
  for (Settlement::Failed& failed : settlement.failed) {
    if (failed.retired) ++stats_.retired;
    report({.failure = failed.failure,
            .id = failed.lease.id,
            .exchange = failed.exchange,
            .routing_key = failed.routing_key,
            .attempts = failed.attempts,
            .counted = failed.counted,
            .retired = failed.retired,
            .wait = failed.wait});
    failed_.push_back(std::move(failed));
  }
  released_.insert(released_.end(), std::make_move_iterator(settlement.released.begin()),
                   std::make_move_iterator(settlement.released.end()));
  if (window_.take_lane_change()) {  // rows that the last claims left out may go now
    pace_.drop();
    woken_ = true;
  }
}

// --- the store, beside claim and mark ---

void Loop::write_failures() {
  if ((failed_.empty() && released_.empty()) || now_ < store_retry_at_) return;
  pace_.drop();
  with_store([&] {
    if (!failed_.empty()) {
      std::vector<outbox::RowFailure> failures;
      for (const Settlement::Failed& failed : failed_)
        failures.push_back(
            {.lease = failed.lease,
             .reason = failed.failure.reason,
             .counts = failed.counted,
             .wait = std::chrono::duration_cast<std::chrono::microseconds>(std::max(Instant{0}, failed.due - now_))});
      const auto changed = store_->fail(failures);
      count_conflicts(changed, failures.size());
      if (!changed)
        for (const Settlement::Failed& failed : failed_) window_.wait_for_lease(failed);
      failed_.clear();
    }
    if (!released_.empty()) {
      count_conflicts(store_->release(released_, {}), released_.size());
      released_.clear();
    }
  });
}

void Loop::give_back(bool in_flight_too, std::string_view reason) {
  const std::vector<outbox::Lease> leases = window_.give_back(in_flight_too);
  if (leases.empty() || now_ < store_retry_at_) return;  // else the leases end by themselves
  pace_.drop();
  with_store([&] { count_conflicts(store_->release(leases, reason), leases.size()); });
}

void Loop::renew_leases() {
  if (now_ < renewal_at_ || window_.empty() || now_ < store_retry_at_) return;
  const std::vector<outbox::Lease> leases = window_.leases_due();
  if (!leases.empty()) {
    const Instant sent = clock_.since_boot();
    with_store([&] {
      const auto changed = store_->renew(leases, options_.lease);
      if (!changed) return;
      count_conflicts(changed, leases.size());
      window_.renewed(sent + options_.lease, sent + options_.lease / 2);
      if (*changed < leases.size()) give_back(false, {});  // some are another relay's by now, and which is not known
    });
  }
  const Instant later = now_ + options_.lease / 4;
  renewal_at_ = std::max(window_.renewal_due().value_or(later), now_ + std::chrono::milliseconds(100));
}

void Loop::count_conflicts(std::optional<std::size_t> changed, std::size_t expected) {
  if (!changed || *changed >= expected) return;
  const std::size_t lost = expected - *changed;
  stats_.conflicts += lost;
  contained([&](Observer& observer) { observer.on_conflict(lost); });
}

template <class Call>
void Loop::with_store(Call call) {
  try {
    call();
    store_failures_ = 0;
  } catch (const std::exception& error) {
    if (sweeping_ && !first_failure_) first_failure_ = std::current_exception();
    tell_time();
    const auto wait = outage_wait(++store_failures_, random_.next());
    store_retry_at_ = now_ + wait;
    store_reason_ = error.what();
    ++stats_.failed[static_cast<std::size_t>(FailureClass::store)];
    report_failure({.failure_class = FailureClass::store, .reason = store_reason_}, wait);
  }
}

// --- the channel ---

bool Loop::open_channel() {
  if (channel_->is_open()) return true;
  if (now_ < open_retry_at_) return false;
  set_state(RelayState::connecting, transport_->description());
  const auto failure = channel_->open(options_.open_timeout);
  tell_time();
  if (!failure) {
    if (std::exchange(opened_before_, true)) ++stats_.reconnects;
    open_failures_ = 0;
    return true;
  }
  if (stopping_) return false;  // the attempt was interrupted
  const auto wait = outage_wait(++open_failures_, random_.next());
  open_retry_at_ = now_ + wait;
  open_reason_ = failure->reason;
  ++stats_.failed[static_cast<std::size_t>(FailureClass::outage)];
  give_back(true, failure->reason);  // another relay may reach the broker
  report_failure(*failure, wait);
  return false;
}

// --- time and state ---

void Loop::tell_time() {
  now_ = clock_.since_boot();
  window_.set_now(now_);
}

Instant Loop::next_due() const {
  Instant due = now_ + options_.interval;
  const auto consider = [&](Instant instant) { due = std::min(due, instant); };
  if (can_claim()) consider(claim_due());
  if (!channel_->is_open()) consider(open_retry_at_);
  if (store_failures_ > 0) consider(store_retry_at_);
  if (window_.claims_resume() > now_) consider(window_.claims_resume());
  if (const auto instant = window_.next_instant()) consider(*instant);
  if (const auto instant = window_.lane_due()) consider(*instant);
  if (!marks_.empty() && now_ >= store_retry_at_) consider(marks_due_);
  return due;
}

void Loop::update_state() {
  if (!channel_->is_open())
    set_state(RelayState::waiting, open_reason_);
  else if (auto reason = channel_->blocked_reason())
    set_state(RelayState::blocked, std::move(*reason));
  else if (store_failures_ > 0)
    set_state(RelayState::waiting, store_reason_);
  else
    set_state(RelayState::running);
}

void Loop::set_state(RelayState state, std::string reason) {
  if (stats_.state == state && stats_.state_reason == reason) return;
  stats_.state = state;
  stats_.state_reason = std::move(reason);
  publish_stats();
  contained([&](Observer& observer) { observer.on_state(state, stats_.state_reason); });
}

outbox::RelayStats Loop::stats() const {
  const std::lock_guard lock(shared_stats_mutex_);
  return shared_stats_;
}

void Loop::publish_stats() {
  stats_.pending_confirms = window_.in_flight();
  const std::lock_guard lock(shared_stats_mutex_);
  shared_stats_ = stats_;
}

// --- telling the host ---

void Loop::report_delivery(const Settlement::Delivery& delivery) {
  if (!options_.observer) return;
  const auto lag = std::max(std::chrono::microseconds(0), clock_.now() - delivery.created_at);
  contained([&](Observer& observer) {
    observer.on_delivered({.id = delivery.id,
                           .exchange = delivery.exchange,
                           .routing_key = delivery.routing_key,
                           .lag = lag,
                           .overtook = delivery.overtook});
  });
}

void Loop::report(const FailureReport& report) {
  const bool passes_by_itself =
      report.failure.failure_class == FailureClass::suspect && report.id.empty();  // who is guilty is still to be found
  if (sweeping_ && !first_failure_ && !passes_by_itself) first_failure_ = std::make_exception_ptr(PublishError(report.failure));
  contained([&](Observer& observer) { observer.on_failed(report); });
  if (sweeping_ || !options_.on_error) return;
  try {
    options_.on_error(report);
  } catch (...) {  // nothing that a callback throws may end the loop
  }
}

void Loop::report_failure(const Failure& failure, std::chrono::milliseconds wait) { report({.failure = failure, .wait = wait}); }

template <class Call>
void Loop::contained(Call call) noexcept {
  if (!options_.observer) return;
  try {
    call(*options_.observer);
  } catch (...) {  // as above
  }
}

}  // namespace acemq::relay
