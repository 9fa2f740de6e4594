#include "relay/window.hpp"

#include <algorithm>
#include <utility>

#include "relay/row_decoder.hpp"

namespace acemq::relay {
namespace {

// What is remembered of lanes and records is bounded; forgetting early costs one more careful attempt, nothing else.
constexpr std::size_t kRememberedMax = 10'000;

// A row is due by the store's clock first, then here.
constexpr Instant kDueSlack = std::chrono::milliseconds(1);

std::string lane_key(std::string_view exchange, std::string_view routing_key) {
  std::string key;
  key.reserve(exchange.size() + 1 + routing_key.size());
  return key.append(exchange).append(1, '\0').append(routing_key);
}

Failure describe(const Message& message, Incident incident, FailureClass failure_class, std::uint16_t code,
                 std::string_view text) {
  Failure failure{
      .failure_class = failure_class, .code = code, .reason = std::string(to_words(incident)), .server_text = std::string(text)};
  if (code != 0) failure.reason += " (" + std::to_string(code) + (text.empty() ? "" : " " + failure.server_text) + ")";
  if (incident == Incident::returned || incident == Incident::nacked)
    failure.reason += ", exchange '" + message.exchange + "', routing key '" + message.routing_key + "'";
  return failure;
}

}  // namespace

Window::Window(WindowOptions options) : options_(options), records_max_(options.messages_max + options.messages_max / 2) {
  if (options_.ordering == outbox::Ordering::serial) options_.messages_max = 1;
}

// --- claim ---

std::size_t Window::rows_room() const { return records_max_ > records_.size() ? records_max_ - records_.size() : 0; }

std::size_t Window::bytes_room() const { return options_.bytes_max > bytes_ ? options_.bytes_max - bytes_ : 0; }

void Window::admit(outbox::Row&& row, const std::string& token, Instant lease_end, Instant renew_at) {
  const Ticket ticket = ++last_ticket_;
  HeldRecord& record = records_[ticket];
  record.ticket = ticket;
  record.lease = {.id = row.id, .token = token};
  record.lease_end = lease_end;
  record.renew_at = renew_at;
  record.created_at = row.created_at;
  record.attempts = row.attempts;
  record.bytes = row.body.size() + row.headers.size();
  record.message = decode_row(std::move(row), record.defect);
  record.lane = &lane_of(record.message.exchange, record.message.routing_key);
  ++record.lane->records;
  bytes_ += record.bytes;
  held_.insert(ticket);

  const auto history = histories_.find(record.lease.id);
  const bool harm_unknown = record.attempts > 0 && history == histories_.end() && record.lane->failures == 0;
  // A record that failed before this relay's time may be one that breaks the channel for its neighbours.
  if (harm_unknown || (history != histories_.end() && history->second.alone)) make_alone(record);
}

Lane& Window::lane_of(std::string_view exchange, std::string_view routing_key) {
  if (lanes_.size() > kRememberedMax) forget_idle_lanes();
  auto [it, is_new] = lanes_.try_emplace(lane_key(exchange, routing_key));
  if (is_new) it->second.key = it->first;
  return it->second;
}

void Window::forget_idle_lanes() {
  std::erase_if(lanes_, [&](const auto& entry) {
    const Lane& lane = entry.second;
    return lane.records == 0 && (lane.state == Lane::State::open || lane.due + lane_wait(lane.failures) < now_);
  });
}

Window::History& Window::history_of(const std::string& id) {
  if (histories_.size() > kRememberedMax) histories_.clear();
  return histories_[id];
}

// --- send ---

void Window::begin_pass() {
  ++pass_;
  cursor_ = 0;
  pass_sent_ = false;
  pass_alone_ = 0;
}

HeldRecord* Window::next() {
  if (alone_in_flight_) return nullptr;
  if (HeldRecord* record = next_in_pass()) {
    pass_sent_ = true;
    return record;
  }
  return next_alone();
}

HeldRecord* Window::next_in_pass() {
  if (is_full()) return nullptr;
  for (auto it = held_.lower_bound(cursor_); it != held_.end(); it = held_.lower_bound(cursor_)) {
    HeldRecord& record = records_.at(*it);
    Lane& lane = *record.lane;
    cursor_ = record.ticket + 1;
    if (harmless_ > 0 && !record.harmless) continue;
    if (record.lease_end <= now_) {  // another relay may hold it by now
      forget(record);
      continue;
    }
    if (lane.passed == pass_) continue;
    const bool is_due = lane.state != Lane::State::waiting || (lane.due <= now_ && lane.in_flight == 0);
    if (is_due && !record.alone && !(is_narrow(lane) && lane.in_flight > 0)) return &record;
    if (is_due && record.alone && pass_alone_ == 0) pass_alone_ = record.ticket;
    lane.passed = pass_;
  }
  return nullptr;
}

HeldRecord* Window::next_alone() {
  if (pass_sent_ || pass_alone_ == 0 || !in_flight_.empty()) return nullptr;
  pass_sent_ = true;
  return &records_.at(std::exchange(pass_alone_, 0));
}

bool Window::is_full() const { return in_flight_.size() >= options_.messages_max; }

bool Window::is_narrow(const Lane& lane) const {
  return lane.state != Lane::State::open || options_.ordering != outbox::Ordering::stream;
}

void Window::sent(HeldRecord& record) {
  Lane& lane = *record.lane;
  if (lane.state == Lane::State::waiting) lane.state = Lane::State::probing;
  record.probe = lane.state == Lane::State::probing;
  record.in_flight = true;
  record.sent_at = unblocked_time();
  record.sent_as = ++sends_;
  held_.erase(record.ticket);
  in_flight_.emplace(record.sent_at, record.ticket);
  ++lane.in_flight;
  alone_in_flight_ = record.alone;
  if (record.sent_before) ++settlement_.resent;
  record.sent_before = true;
}

void Window::refuse(HeldRecord& record, Incident incident, Failure failure) {
  // Its turn had come: a waiting lane was due.
  if (record.lane->state == Lane::State::waiting) record.lane->state = Lane::State::probing;
  const Verdict verdict = judge(incident, {.code = failure.code});
  fail_lane(record, verdict, std::move(failure));
}

void Window::skip(HeldRecord& record) { record.lane->passed = pass_; }

// --- settle ---

void Window::confirmed(Ticket ticket) {
  const auto it = records_.find(ticket);
  if (it == records_.end() || !it->second.in_flight) return;
  HeldRecord& record = it->second;
  Lane& lane = *record.lane;
  ++confirms_;
  const bool overtook = lane.state != Lane::State::open && !record.probe && ticket > lane.failed_ticket;
  if (overtook) ++overtaken_;
  if (record.probe) {
    lane.state = Lane::State::open;
    lane.failures = 0;
    lane_changed_ = true;
  }
  settlement_.deliveries.push_back({.id = record.lease.id,
                                    .exchange = record.message.exchange,
                                    .routing_key = record.message.routing_key,
                                    .created_at = record.created_at,
                                    .overtook = overtook});
  if (!histories_.empty()) histories_.erase(record.lease.id);
  forget(record);
}

void Window::failed(Ticket ticket, Incident incident, std::uint16_t code, std::string_view text) {
  const auto it = records_.find(ticket);
  if (it == records_.end() || !it->second.in_flight) return;
  HeldRecord& record = it->second;
  const Verdict verdict = judge(incident, {.code = code, .alone = in_flight_.size() == 1});
  Failure failure = describe(record.message, incident, verdict.failure_class, code, text);
  if (incident == Incident::over_limit) failure.reason = std::string(text);
  fail_lane(record, verdict, std::move(failure));
}

void Window::channel_ended(Incident incident, std::uint16_t code, std::string_view text) {
  const bool was_alone = in_flight_.size() == 1;
  const bool is_selective = incident == Incident::channel_closed && !was_alone;
  const std::set<Ticket> suspected = is_selective ? suspects(code, text) : std::set<Ticket>{};
  if (is_selective) note_harmless(suspected);
  for (const Ticket ticket : tickets_in_flight()) {
    const auto it = records_.find(ticket);
    if (it == records_.end()) continue;
    if (is_selective && !suspected.contains(ticket))
      hold_in_doubt(it->second);
    else
      doubt(it->second, incident, code, text, was_alone);
  }
}

// In the order of claims.
std::vector<Ticket> Window::tickets_in_flight() const {
  std::vector<Ticket> tickets;
  for (const auto& entry : in_flight_) tickets.push_back(entry.second);
  std::sort(tickets.begin(), tickets.end());
  return tickets;
}

// Somebody in flight made the broker close the channel. When its words fit nobody, as when it cut off a long name, they fit all.
std::set<Ticket> Window::suspects(std::uint16_t code, std::string_view text) const {
  const std::vector<Ticket> all = tickets_in_flight();
  std::set<Ticket> fitting;
  for (const Ticket ticket : all)
    if (may_be_guilty(records_.at(ticket).message, code, text)) fitting.insert(ticket);
  return fitting.empty() ? std::set<Ticket>(all.begin(), all.end()) : fitting;
}

// The broker handled what was sent before the first suspect. Those messages may be in the queues already, so they are sent again
// by themselves: in the company of another record that breaks the channel they would get a third copy.
void Window::note_harmless(const std::set<Ticket>& suspects) {
  std::uint64_t first = sends_ + 1;
  for (const Ticket ticket : suspects) first = std::min(first, records_.at(ticket).sent_as);
  for (const auto& entry : in_flight_) {
    HeldRecord& record = records_.at(entry.second);
    if (record.sent_as >= first || record.harmless) continue;
    record.harmless = true;
    ++harmless_;
  }
}

// In doubt, and nothing is held against the record itself.
void Window::hold_in_doubt(HeldRecord& record) {
  count(FailureClass::in_doubt);
  hold_again(record);
}

void Window::doubt(HeldRecord& record, Incident incident, std::uint16_t code, std::string_view text, bool was_alone) {
  History& history = history_of(record.lease.id);
  ++history.doubts;
  const auto& confirms_then = history.confirms_when_failed_alone;
  const Verdict verdict = judge(incident, {.code = code,
                                           .alone = was_alone,
                                           .doubts = history.doubts,
                                           .neighbours_fine = confirms_then && *confirms_then < confirms_});
  history.alone = history.alone || verdict.then == Reaction::resend_alone || (was_alone && verdict.then == Reaction::lane_waits);
  const bool failed_alone = was_alone && history.alone;
  if (failed_alone) history.confirms_when_failed_alone = confirms_;
  if (verdict.then == Reaction::lane_waits || failed_alone) {
    // A record that failed alone steps aside, charged or not, so that others can show whether it is the record or the broker.
    fail_lane(record, verdict, describe(record.message, incident, verdict.failure_class, code, text));
    return;
  }
  count(verdict.failure_class);
  if (history.alone) make_alone(record);
  hold_again(record);
}

void Window::fail_lane(HeldRecord& record, const Verdict& verdict, Failure failure) {
  Lane& lane = *record.lane;
  count(verdict.failure_class);
  if (lane.state == Lane::State::waiting) {  // only the first failure of a lane is charged
    release(record);
    return;
  }
  lane.failures = std::min(lane.failures + 1, 1000U);
  lane.failed_ticket = record.ticket;
  lane.state = Lane::State::waiting;
  const std::int32_t attempts = record.attempts + (verdict.counts ? 1 : 0);
  const bool retired = verdict.counts && attempts >= options_.attempts_max;
  // The row's own count is shared by all relays, so that many of them try it no more often than one.
  const unsigned failures = std::max(lane.failures, verdict.counts ? static_cast<unsigned>(attempts) : 0U);
  const auto wait = retired ? std::chrono::milliseconds(0) : lane_wait(failures);
  lane.due = now_ + wait + kDueSlack;
  if (!lane_due_ || lane.due < *lane_due_) lane_due_ = lane.due;
  if (options_.on_failure == outbox::OnFailure::batch) claims_resume_ = lane.due;
  if (retired) histories_.erase(record.lease.id);
  settlement_.failed.push_back({.failure = std::move(failure),
                                .lease = record.lease,
                                .lease_end = record.lease_end,
                                .exchange = record.message.exchange,
                                .routing_key = record.message.routing_key,
                                .attempts = attempts,
                                .counted = verdict.counts,
                                .retired = retired,
                                .wait = wait,
                                .due = now_ + wait});
  forget(record);
  release_held(options_.on_failure == outbox::OnFailure::batch ? nullptr : &lane);
}

void Window::release_held(const Lane* lane) {
  if (lane != nullptr && lane->records == lane->in_flight) return;
  std::vector<Ticket> tickets(held_.begin(), held_.end());
  for (const Ticket ticket : tickets) {
    HeldRecord& record = records_.at(ticket);
    if (lane == nullptr || record.lane == lane) release(record);
  }
}

void Window::release(HeldRecord& record) {
  settlement_.released.push_back(record.lease);
  forget(record);
}

void Window::hold_again(HeldRecord& record) {
  if (record.lane->state == Lane::State::waiting) {  // held here it could be sent before the record that failed
    release(record);
    return;
  }
  leave_flight(record);
  held_.insert(record.ticket);
}

void Window::make_alone(HeldRecord& record) {
  if (record.alone) return;
  record.alone = true;
  ++alone_;
  if (std::exchange(record.harmless, false)) --harmless_;
}

void Window::leave_flight(HeldRecord& record) {
  if (!record.in_flight) return;
  in_flight_.erase({record.sent_at, record.ticket});
  record.in_flight = false;
  record.probe = false;
  --record.lane->in_flight;
  if (record.alone) alone_in_flight_ = false;
}

void Window::forget(HeldRecord& record) {
  leave_flight(record);
  held_.erase(record.ticket);
  if (record.alone) --alone_;
  if (record.harmless) --harmless_;
  bytes_ -= record.bytes;
  Lane& lane = *record.lane;
  --lane.records;
  records_.erase(record.ticket);
  if (lane.records == 0 && lane.state == Lane::State::open) lanes_.erase(std::string(lane.key));
}

// --- overdue confirms ---

Instant Window::unblocked_time() const { return blocked_since_.value_or(now_) - blocked_total_; }

bool Window::is_overdue() const {
  return !blocked_since_ && !in_flight_.empty() && in_flight_.begin()->first + options_.confirm_timeout <= unblocked_time();
}

void Window::confirms_overdue() {
  const bool was_alone = in_flight_.size() == 1;
  const Instant latest = unblocked_time() - options_.confirm_timeout;
  while (!in_flight_.empty()) {
    const auto [sent_at, ticket] = *in_flight_.begin();
    HeldRecord& record = records_.at(ticket);
    if (sent_at <= latest)
      doubt(record, Incident::confirm_timeout, 0, {}, was_alone);
    else
      hold_in_doubt(record);  // its time had not come
  }
}

void Window::blocked() {
  if (!blocked_since_) blocked_since_ = now_;
}

void Window::unblocked() {
  if (!blocked_since_) return;
  blocked_total_ += now_ - *blocked_since_;
  blocked_since_.reset();
}

// --- leaving ---

std::vector<outbox::Lease> Window::give_back(bool in_flight_too) {
  std::vector<outbox::Lease> leases;
  std::vector<Ticket> tickets(held_.begin(), held_.end());
  if (in_flight_too)
    for (const auto& entry : in_flight_) tickets.push_back(entry.second);
  for (const Ticket ticket : tickets) {
    HeldRecord& record = records_.at(ticket);
    leases.push_back(record.lease);
    forget(record);
  }
  return leases;
}

std::size_t Window::in_doubt() const {
  const auto count = std::count_if(held_.begin(), held_.end(), [&](Ticket ticket) { return records_.at(ticket).sent_before; });
  return static_cast<std::size_t>(count);
}

Settlement Window::take_settlement() { return std::exchange(settlement_, {}); }

// --- leases ---

std::optional<Instant> Window::renewal_due() const {
  std::optional<Instant> due;
  for (const auto& [ticket, record] : records_)
    if (!due || record.renew_at < *due) due = record.renew_at;
  return due;
}

std::vector<outbox::Lease> Window::leases_due() const {
  std::vector<outbox::Lease> leases;
  for (const auto& [ticket, record] : records_)
    if (record.renew_at <= now_) leases.push_back(record.lease);
  return leases;
}

void Window::renewed(Instant lease_end, Instant renew_at) {
  for (auto& [ticket, record] : records_) {
    if (record.renew_at > now_) continue;
    record.lease_end = lease_end;
    record.renew_at = renew_at;
  }
}

// --- time ---

bool Window::take_lane_change() {
  if (lane_due_ && *lane_due_ <= now_) {
    lane_changed_ = true;
    lane_due_.reset();
    for (const auto& [key, lane] : lanes_)
      if (lane.state == Lane::State::waiting && lane.due > now_ && (!lane_due_ || lane.due < *lane_due_)) lane_due_ = lane.due;
  }
  return std::exchange(lane_changed_, false);
}

void Window::wait_for_lease(const Settlement::Failed& failed) {
  lane_of(failed.exchange, failed.routing_key).due = failed.lease_end + kDueSlack;
}

std::optional<Instant> Window::next_instant() const {
  std::optional<Instant> next;
  const auto consider = [&](Instant instant) {
    if (!next || instant < *next) next = instant;
  };
  if (!in_flight_.empty() && !blocked_since_) consider(in_flight_.begin()->first + options_.confirm_timeout + blocked_total_);
  for (const Ticket ticket : held_) {
    const Lane& lane = *records_.at(ticket).lane;
    if (lane.state == Lane::State::waiting) consider(lane.due);
  }
  return next;
}

}  // namespace acemq::relay
