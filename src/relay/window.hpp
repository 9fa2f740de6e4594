// The window: every row that this relay has claimed and not yet settled, and which of them may be sent now. Decides, by the
// rules of order and failure (DESIGN 5.2, 5.3); reads no clock, touches no database and no broker.
//
// A record is *held* (claimed, not on the wire), *in flight* (sent, unanswered) or gone (settled). A lane, the records of one
// exchange and routing key, is *open* (sends freely), *waiting* (a record failed; nothing is sent until it is due) or *probing*
// (due: its head is sent, and nothing behind it before that is confirmed).
//
// How the record that breaks a channel is found: a, b, c and d are in flight, the broker closes the channel, and its words fit b
// and c.
//   a      was sent before the first suspect, so the broker may have queued it: *harmless*, it goes out again before all others
//   d      does not fit: it goes out again
//   b, c   are suspects: each goes out *alone*, with nothing else in flight. b is confirmed. c closes the channel again: it is
//          guilty, charged, and sent alone from now on (its History says so).
// A healthy message goes out twice at most, and nobody is charged for a neighbour. A lost connection or confirm works the same
// way, but only after three times in a row, and its verdict needs a second failure with neighbours confirmed in between: the
// broker, or somebody else on the connection, may be to blame.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "acemq/outbox/relay.hpp"
#include "acemq/outbox/store.hpp"
#include "acemq/transport.hpp"
#include "relay/policy.hpp"

namespace acemq::relay {

using Instant = std::chrono::nanoseconds;  // of Clock::since_boot()
using Ticket = std::uint64_t;              // in the order of claims

struct Lane;

struct HeldRecord {
  Ticket ticket = 0;
  outbox::Lease lease = {};
  Instant lease_end{0};
  Instant renew_at{0};
  Timestamp created_at = {};
  std::int32_t attempts = 0;
  Message message = {};
  std::string defect = {};  // not empty: the row is no message
  std::size_t bytes = 0;
  Lane* lane = nullptr;
  Instant sent_at{0};  // in unblocked time
  bool in_flight = false;
  bool alone = false;  // to be sent with nothing else in flight
  bool probe = false;  // sent as the head of a probing lane
  bool sent_before = false;
  bool harmless = false;      // in doubt, but the broker got past it: nothing behind it goes out before it is confirmed
  std::uint64_t sent_as = 0;  // its place in the order of sending
};

struct Lane {
  enum class State { open, waiting, probing };
  std::string key;
  State state = State::open;
  unsigned failures = 0;     // in a row
  Ticket failed_ticket = 0;  // of the last failure
  Instant due{0};            // when waiting
  std::size_t records = 0;
  std::size_t in_flight = 0;
  std::uint64_t passed = 0;  // last send pass that found nothing more to send here
};

// What became of records, for the store and for the observers. Taken by the loop after each step.
struct Settlement {
  struct Delivery {
    std::string id = {}, exchange = {}, routing_key = {};
    Timestamp created_at = {};
    bool overtook = false;
  };
  struct Failed {
    Failure failure = {};
    outbox::Lease lease = {};
    Instant lease_end{0};
    std::string exchange = {}, routing_key = {};
    std::int32_t attempts = 0;  // this failure included, if counted
    bool counted = false;
    bool retired = false;
    std::chrono::milliseconds wait{0};
    Instant due{0};  // the same as an instant
  };
  std::vector<Delivery> deliveries = {};  // to be marked published
  std::vector<Failed> failed = {};
  std::vector<outbox::Lease> released = {};  // unsent, or failed behind a failing record: not charged
  std::uint64_t resent = 0;
  std::array<std::uint64_t, 6> failures = {};  // by FailureClass, the uncharged ones included
};

struct WindowOptions {
  std::size_t messages_max = 1000;
  std::size_t bytes_max = std::size_t{16} << 20;
  std::int32_t attempts_max = 10;
  std::chrono::nanoseconds confirm_timeout = std::chrono::seconds(30);
  outbox::Ordering ordering = outbox::Ordering::stream;
  outbox::OnFailure on_failure = outbox::OnFailure::lane;
};

class Window {
 public:
  explicit Window(WindowOptions options);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // What the time is, for all that follows until told again.
  void set_now(Instant now) { now_ = now; }

  // --- claim --- Half a window of rows is held ready beside those in flight: brokers confirm in bursts, and the next messages
  // must be at hand then, not still in the database.
  std::size_t rows_room() const;
  std::size_t bytes_room() const;
  // Something must be sent alone first: nothing new is claimed.
  bool isolating() const { return alone_ > 0; }
  void admit(outbox::Row&& row, const std::string& token, Instant lease_end, Instant renew_at);

  // --- send --- begin_pass(), then next() until it returns nullptr; after each record sent() or refuse().
  void begin_pass();
  HeldRecord* next();
  void sent(HeldRecord& record);
  void refuse(HeldRecord& record, Incident incident, Failure failure);
  // The record stays held, its lane is left alone for the rest of this pass.
  void skip(HeldRecord& record);

  // --- settle --- unknown tickets are ignored
  void confirmed(Ticket ticket);
  void failed(Ticket ticket, Incident incident, std::uint16_t code, std::string_view text);
  // The channel is gone: everything in flight is in doubt and held again.
  void channel_ended(Incident incident, std::uint16_t code, std::string_view text);
  // Whether a confirm is overdue; then the channel must be given up and confirms_overdue() called.
  bool is_overdue() const;
  void confirms_overdue();
  // Confirm timers stand still between the two.
  void blocked();
  void unblocked();

  // Lets go of what is held, or of everything; returns the leases.
  std::vector<outbox::Lease> give_back(bool in_flight_too);
  Settlement take_settlement();

  // --- leases ---
  // When the first lease is to be renewed; nothing while there are none. Looks at every record.
  std::optional<Instant> renewal_due() const;
  std::vector<outbox::Lease> leases_due() const;
  // The leases that were due run until `lease_end`.
  void renewed(Instant lease_end, Instant renew_at);

  // --- state ---
  bool empty() const { return records_.empty(); }
  std::size_t size() const { return records_.size(); }
  std::size_t in_flight() const { return in_flight_.size(); }
  // Sent once, never answered, and held: perhaps delivered.
  std::size_t in_doubt() const;
  // When next() or is_overdue() may have more to say though nothing happened.
  std::optional<Instant> next_instant() const;
  // When the next waiting lane is due, records of it here or not; its head is then to be claimed.
  std::optional<Instant> lane_due() const { return lane_due_; }
  // Whether a lane came due, or opened again, since the last call: older rows than those claimed last may be sent now.
  bool take_lane_change();
  // The store cannot write down that a row waits: its lane waits until the row's lease is over.
  void wait_for_lease(const Settlement::Failed& failed);
  std::uint64_t overtaken() const { return overtaken_; }
  // With OnFailure::batch: nothing is claimed before.
  Instant claims_resume() const { return claims_resume_; }

 private:
  // What is remembered of a record that left this window, or its channel, without an answer.
  struct History {
    unsigned doubts = 0;
    bool alone = false;
    std::optional<std::uint64_t> confirms_when_failed_alone;
  };

  Lane& lane_of(std::string_view exchange, std::string_view routing_key);
  History& history_of(const std::string& id);
  void forget_idle_lanes();
  bool is_full() const;
  bool is_narrow(const Lane& lane) const;
  HeldRecord* next_in_pass();
  HeldRecord* next_alone();
  std::vector<Ticket> tickets_in_flight() const;
  std::set<Ticket> suspects(std::uint16_t code, std::string_view text) const;
  void note_harmless(const std::set<Ticket>& suspects);
  // A record in flight was left without an answer: send it again, send it alone, or charge it.
  void doubt(HeldRecord& record, Incident incident, std::uint16_t code, std::string_view text, bool was_alone);
  void hold_in_doubt(HeldRecord& record);
  void fail_lane(HeldRecord& record, const Verdict& verdict, Failure failure);
  void release_held(const Lane* lane);
  void count(FailureClass failure_class) { ++settlement_.failures[static_cast<std::size_t>(failure_class)]; }
  void release(HeldRecord& record);
  void hold_again(HeldRecord& record);
  void make_alone(HeldRecord& record);
  void leave_flight(HeldRecord& record);
  void forget(HeldRecord& record);
  Instant unblocked_time() const;

  WindowOptions options_;
  const std::size_t records_max_;  // in flight and held
  std::unordered_map<Ticket, HeldRecord> records_;
  std::set<Ticket> held_;
  std::set<std::pair<Instant, Ticket>> in_flight_;  // by the time of sending
  std::unordered_map<std::string, Lane> lanes_;
  std::unordered_map<std::string, History> histories_;
  Settlement settlement_;
  Ticket last_ticket_ = 0;
  std::uint64_t sends_ = 0;
  std::size_t bytes_ = 0;
  std::size_t alone_ = 0;     // records marked so
  std::size_t harmless_ = 0;  // the same
  bool alone_in_flight_ = false;
  std::uint64_t confirms_ = 0;
  std::uint64_t overtaken_ = 0;
  std::uint64_t pass_ = 0;
  Ticket cursor_ = 0;  // of the pass
  bool pass_sent_ = false;
  Ticket pass_alone_ = 0;  // first record of the pass that must go alone
  Instant now_{0};
  std::optional<Instant> blocked_since_;
  Instant blocked_total_{0};
  std::optional<Instant> lane_due_;
  bool lane_changed_ = false;
  Instant claims_resume_{0};
};

}  // namespace acemq::relay
