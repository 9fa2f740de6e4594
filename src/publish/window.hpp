// The window of direct publishing: what several callers want sent on one channel, what is unconfirmed, and what became of each.
// Used by one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "acemq/clock.hpp"
#include "acemq/connection.hpp"
#include "acemq/transport.hpp"

namespace acemq::publish {

using Instant = std::chrono::nanoseconds;  // of Clock::since_boot()

struct Limits {
  std::chrono::milliseconds confirm_timeout = std::chrono::seconds(30);
  std::chrono::milliseconds open_timeout = std::chrono::seconds(10);
  std::size_t messages_max = 1000;
  std::size_t bytes_max = std::size_t{16} << 20;
};

// What one caller waits for. Its outcomes begin as the worst that can be said, so that giving up needs no memory.
struct Job {
  explicit Job(std::span<const Message> the_messages);

  bool all_sent() const { return next == messages.size(); }
  bool finished() const { return settled == messages.size(); }

  std::span<const Message> messages;
  std::vector<PublishOutcome> outcomes;
  std::size_t next = 0;  // to be sent
  std::size_t settled = 0;
  std::optional<Instant> give_up_at = {};  // set once its turn to send has come, and anew with each answer
  bool done = false;                       // the caller may go
};

class Window {
 public:
  Window(std::unique_ptr<PublishChannel> channel, const Clock& clock, Limits limits);

  // The job must stay where it is until it is done.
  void admit(Job& job) { jobs_.push_back(&job); }
  // Settles what is known already. For whoever takes over: a channel that ended while nobody looked must not get a message.
  void look() { poll(std::chrono::nanoseconds(0)); }
  // Hands over what there is room for.
  void send();
  // Settles what is answered; waits for the first answer, an interrupt, or the time at which a caller has waited long enough.
  void receive();
  // Finished jobs are done and forgotten; whether there were any.
  bool remove_finished();
  // Every job is done, its unsettled messages in doubt; the channel starts anew.
  void abandon() noexcept;
  // Any thread: makes a receive() that waits, or the next one, return.
  void interrupt() noexcept { channel_->interrupt(); }

 private:
  using Kind = PublishOutcome::Kind;
  // Sent and unanswered. Without a job when its caller has given up: it counts until it is answered or the channel goes.
  struct Flight {
    Job* job = nullptr;
    std::size_t index = 0;
    std::size_t bytes = 0;
  };

  bool make_ready();
  void send_in_turn();
  bool send_next(Job& job);
  void hand_over();
  bool has_room(const Message& message) const;
  std::optional<Failure> check_exchange(const std::string& exchange);

  void poll(std::chrono::nanoseconds timeout);
  void handle(const TransportEvent& event);
  void answered(const TransportEvent& event);
  void ended(const TransportEvent& event);

  void settle(Job& job, std::size_t index, Kind kind, Failure failure);
  void refuse_unsent(const Failure& failure);
  void refuse_unsent(Job& job, const Failure& failure);
  void give_up_overdue();
  void give_up(Job& job);
  void give_up_channel(const Failure& failure);
  Failure blocked() const;

  std::unique_ptr<PublishChannel> channel_;
  const Clock& clock_;
  const Limits limits_;
  std::vector<Job*> jobs_;
  std::map<std::uint64_t, Flight> flights_;  // by ticket
  std::size_t flying_bytes_ = 0;
  std::size_t forsaken_ = 0;  // flights without a job
  std::uint64_t last_ticket_ = 0;
  std::vector<Publication> publications_;
  std::vector<TransportEvent> events_;
  std::set<std::string> known_exchanges_;             // on this channel
  std::map<std::string, Failure> missing_exchanges_;  // in this pass of sending
};

}  // namespace acemq::publish
