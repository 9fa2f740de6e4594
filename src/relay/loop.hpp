// The relay's loop, one step at a time, in whatever thread calls it: claim, send, settle, mark. relay.cpp gives it threads.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "acemq/outbox/relay.hpp"
#include "relay/claim_pace.hpp"
#include "relay/window.hpp"

namespace acemq::relay {

class Loop {
 public:
  Loop(std::shared_ptr<outbox::Store> store, std::shared_ptr<Transport> transport, outbox::RelayOptions options);

  // --- by one thread at a time ---
  // One round: whatever can be done now, then a wait until something happens or is due.
  void round();
  // One batch from claim to mark. Throws its first failure at the end.
  std::size_t sweep();
  // No more claims: waits for confirms, marks, gives back.
  void drain();

  // --- by any thread ---
  // Rows were committed: the wait ends and the next round claims.
  void wake() noexcept;
  // Only ends the wait.
  void interrupt() noexcept { channel_->interrupt(); }
  // drain() comes next: ends the wait, and an attempt to connect.
  void stop() noexcept;
  outbox::RelayStats stats() const;

 private:
  enum class Claiming { by_need, once, never };

  // The steps
  bool open_channel();
  void claim_and_mark(Claiming claiming);
  void send();
  void await(Instant until);
  void write_failures();
  void renew_leases();

  // Their parts
  bool can_claim() const;
  Instant claim_due() const;
  bool marks_are_due(Claiming claiming) const;
  outbox::Claim next_claim();
  void admit(std::vector<outbox::Row> rows, const outbox::Claim& claim, Instant sent);
  std::optional<Failure> check_exchange(const std::string& exchange);
  void publish();
  void settle_events(Instant timeout);
  void settle(const TransportEvent& event);
  void end_channel(Incident incident, std::uint16_t code, std::string_view text);
  void give_up_channel(Incident incident, std::string_view why = {});
  void give_back(bool in_flight_too, std::string_view reason);
  void let_go(bool in_flight_too);
  void take_settlement();
  void settle_everything();
  bool refuse_blocked_sweep();
  void count_conflicts(std::optional<std::size_t> changed, std::size_t expected);
  template <class Call>
  void with_store(Call call);

  // Time and state
  void tell_time();
  Instant next_due() const;
  void update_state();
  void set_state(RelayState state, std::string reason = {});
  void publish_stats();

  // Telling the host
  void report_delivery(const Settlement::Delivery& delivery);
  void report(const FailureReport& report);
  void report_failure(const Failure& failure, std::chrono::milliseconds wait = {});
  template <class Call>
  void contained(Call call) noexcept;

  const std::shared_ptr<outbox::Store> store_;
  const std::shared_ptr<Transport> transport_;
  const outbox::RelayOptions options_;
  const Clock& clock_;
  Random& random_;
  const std::unique_ptr<PublishChannel> channel_;
  const std::set<std::string> without_mandatory_;

  Window window_;
  ClaimPace pace_;
  Instant now_{0};
  std::vector<TransportEvent> events_;
  std::vector<Publication> publications_;
  std::set<std::string> known_exchanges_;  // a wrong one costs a closed channel
  std::vector<std::string> marks_;         // confirmed, not yet marked
  Instant marks_due_{0};
  std::vector<Settlement::Failed> failed_;  // not yet written down
  std::vector<outbox::Lease> released_;     // not yet given back
  std::exception_ptr first_failure_;        // of a sweep
  bool sweeping_ = false;
  bool gave_up_channel_ = false;  // in this sweep, for want of answers

  std::atomic<bool> stopping_{false};
  std::atomic<bool> woken_{true};  // the first claim is made at once
  bool more_ = false;              // the last claim returned rows
  Instant poll_at_{0};
  Instant renewal_at_{0};
  Instant store_retry_at_{0};
  unsigned store_failures_ = 0;
  Instant open_retry_at_{0};
  unsigned open_failures_ = 0;
  bool opened_before_ = false;
  std::string open_reason_, store_reason_;

  outbox::RelayStats stats_;  // the running thread's own
  mutable std::mutex shared_stats_mutex_;
  outbox::RelayStats shared_stats_;
};

}  // namespace acemq::relay
