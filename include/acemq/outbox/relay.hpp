// Relay: moves committed rows to the broker and marks them published once the broker has confirmed them.
//
//   acemq::outbox::Relay relay{store, transport};
//   relay.start();                     // a thread of its own, until close() or destruction
//   …
//   relay.wake();                      // after a commit: do not wait for the next poll
//
// Delivery is at least once. What may be repeated: a message that was unconfirmed, or confirmed but not yet marked, when the
// process, the connection or the channel broke. Consumers deduplicate by message id.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "acemq/clock.hpp"
#include "acemq/observer.hpp"
#include "acemq/outbox/store.hpp"
#include "acemq/transport.hpp"

namespace acemq::outbox {

// How many messages may be unconfirmed at once, and so what can overtake a failing record of the same lane.
enum class Ordering {
  stream,  // a window over everything: what was on the wire when a failure became known may overtake, and is counted
  lane,    // one per lane, many lanes: first deliveries of a lane are in order
  serial,  // one: the family's behaviour, about a tenth of the speed
};

// What a failing record stops.
enum class OnFailure {
  lane,   // its own exchange and routing key
  batch,  // everything: unsent rows are given back, and the next batch starts at the same record
};

// Every number has a bound; one outside is refused by the constructor with its name (DESIGN 5.6).
struct RelayOptions {
  std::chrono::milliseconds interval = std::chrono::seconds(1);          // reconciling poll; 10 ms … 1 h
  std::size_t batch = 100;                                               // rows per claim; 1 … 10 000
  std::size_t window = 1000;                                             // unconfirmed messages; 1 … 100 000
  std::size_t window_bytes = std::size_t{16} << 20;                      // and bytes; one larger message passes alone
  std::chrono::milliseconds lease = std::chrono::seconds(60);            // renewed at half; 5 s … 1 h
  std::int32_t attempts_max = 10;                                        // then the row is retired; 1 … 1000
  std::chrono::milliseconds confirm_timeout = std::chrono::seconds(30);  // 100 ms … 1 h
  std::chrono::milliseconds open_timeout = std::chrono::seconds(30);     // connect, handshake and login together
  std::chrono::milliseconds close_timeout = std::chrono::seconds(10);    // for outstanding confirms, when closing
  Ordering ordering = Ordering::stream;
  OnFailure on_failure = OnFailure::lane;
  // Exchanges whose type always returns messages (delayed-message): published without mandatory there, so an unroutable
  // message is lost silently. Name an exchange only when that is understood.
  std::vector<std::string> exchanges_without_mandatory = {};
  // Called from the relay's own thread for every failure; whatever it throws is contained. sweep() throws instead.
  std::function<void(const FailureReport&)> on_error = {};
  std::shared_ptr<Observer> observer = nullptr;
  // Both must outlive the relay; nullptr means the machine's own.
  const Clock* clock = nullptr;
  Random* random = nullptr;
};

// Counters since construction, and where the relay stands now.
struct RelayStats {
  std::uint64_t pending_confirms = 0;        // sent and unanswered, now
  std::uint64_t published = 0;               // confirmed
  std::array<std::uint64_t, 6> failed = {};  // by FailureClass
  std::uint64_t retired = 0;                 // given up by this relay
  std::uint64_t overtaken = 0;               // confirmed behind a failed record of the same lane
  std::uint64_t resent = 0;                  // sent again after being in doubt: possible duplicates
  std::uint64_t conflicts = 0;               // fenced writes that found the row taken
  std::uint64_t reconnects = 0;              // channels opened after the first
  std::uint64_t claims = 0;
  std::uint64_t unanswered = 0;  // sent, and not answered when close() gave them back: will be sent again
  RelayState state = RelayState::stopped;
  std::string state_reason;

  std::uint64_t failures(FailureClass failure_class) const { return failed[static_cast<std::size_t>(failure_class)]; }
};

class Relay {
 public:
  // Neither connects nor starts anything. Throws InvalidConfiguration with the option, the bound and the value.
  Relay(std::shared_ptr<Store> store, std::shared_ptr<Transport> transport, RelayOptions options = {});
  // close(), with what it may throw swallowed: an unmarked message is sent again, never lost.
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // One batch in the caller's thread: claims once, publishes, settles and marks; returns how many messages went out. When
  // something failed it throws the first failure (PublishError, StoreError) after everything that could be settled is settled and
  // marked. Serialised with the loop and with other callers. Throws std::logic_error inside a callback, and after close().
  std::size_t sweep();

  // Runs the loop on a thread of the relay's own until close(). Started already: does nothing. After close(): std::logic_error.
  void start();

  // Says that rows were committed. Any thread, any time; cheap.
  void wake() noexcept;

  // Stops claiming, waits for outstanding confirms (close_timeout at most), marks them, gives back the rest, ends the thread.
  // Any thread, any number of times; later callers wait for the first. Inside a callback it only asks for the stop.
  void close();

  // Any thread.
  RelayStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace acemq::outbox
