// One connection to the broker: made when somebody needs it, shared by all channels, served by a thread of its own.
//
// Callers encode into the session under the mutex and wake the thread only when it had nothing to send. The thread moves the
// bytes, keeps the session's deadlines and puts every event into the mailbox of its channel. Nothing reconnects by itself: the
// next open() or request() makes the next connection, so whoever owns a channel decides about back-off.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "acemq/amqp.hpp"
#include "acemq/transport.hpp"
#include "amqp/session/session.hpp"
#include "amqp/transport/byte_stream.hpp"
#include "amqp/transport/deadline.hpp"
#include "amqp/transport/url.hpp"
#include "amqp/transport/wakeup.hpp"

namespace acemq::amqp {

// A thread that waits for the broker. Guarded by the link's mutex.
struct Waiter {
  std::condition_variable changed;
  bool interrupted = false;  // ends a wait for events, once
  bool cancelled = false;    // ends every wait for an answer, for good
};

// Where the events of one AMQP channel arrive. It is in the link's table of routes for as long as that channel is open; a channel
// that was opened later has nothing to do with it, whatever its number. Guarded by the link's mutex.
struct Mailbox {
  explicit Mailbox(std::shared_ptr<Waiter> owner) : waiter(std::move(owner)) {}

  std::shared_ptr<Waiter> waiter;
  ChannelId channel = 0;
  bool awaits_answer = false;  // to opening the channel, or to a request: the next event is it
  std::optional<SessionEvent> answer;
  std::vector<TransportEvent> events;
};

// Thread-safe. Every call that waits ends at its deadline or when its waiter is interrupted or cancelled.
class Link {
 public:
  Link(Url url, AmqpOptions options);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // Says goodbye for a second at most, ends the thread and whatever waits; from then on everything fails.
  void stop() noexcept;

  // Connects when needed and opens an AMQP channel with confirms for `mailbox`, which has none. Concurrent callers share one
  // attempt to connect; when all of them have given up it still goes on until its own deadlines, for the next to find it ready.
  std::optional<Failure> open(const std::shared_ptr<Mailbox>& mailbox, Deadline deadline);
  // Gives the channel up: what waits in `mailbox` is dropped and nothing arrives any more.
  void close(Mailbox& mailbox) noexcept;
  void publish(Mailbox& mailbox, std::span<const Publication> publications);
  // Moves what has arrived behind `events`, after waiting for it until `deadline`.
  void collect(Mailbox& mailbox, std::vector<TransportEvent>& events, Deadline deadline);
  void interrupt(Waiter& waiter) noexcept;
  void cancel(Waiter& waiter) noexcept;
  std::optional<std::string> blocked_reason(const Mailbox& mailbox) const;

  // Asks for something that is answered by `done`, on a channel without confirms. A refusal by the broker is a Failure of class
  // refusal, anything else of class outage.
  using Ask = std::function<void(Session& session, ChannelId channel, std::uint64_t request)>;
  // Connects when needed.
  std::optional<Failure> request(const std::shared_ptr<Waiter>& waiter, Deadline deadline, const Ask& ask);
  // On the connection of an open channel, and on no other.
  std::optional<Failure> request_beside(const Mailbox& mailbox, Deadline deadline, const Ask& ask);

  const Url& url() const noexcept { return url_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  // One try to connect and log in, which several callers may wait for.
  struct Attempt {
    bool done = false;
    std::optional<Failure> failure;
    std::set<std::shared_ptr<Waiter>> waiters;
  };
  struct Io {
    Wakeup kick;  // there is something to send
    Wakeup stop;  // give up dialling
    std::thread thread;
  };

  // Callers' side.
  std::optional<Failure> connect(Lock& lock, const std::shared_ptr<Waiter>& waiter, Deadline deadline);
  void start_attempt();
  enum class Purpose { publishing, requests };
  std::optional<Failure> open_channel(Lock& lock, const std::shared_ptr<Mailbox>& mailbox, Purpose purpose, Deadline deadline);
  template <class Call>
  void send(Call&& call);
  std::variant<SessionEvent, Failure> await_answer(Lock& lock, Mailbox& mailbox, Purpose purpose, Deadline deadline);
  std::optional<Failure> ask_broker(Lock& lock, const std::shared_ptr<Waiter>& waiter, Deadline deadline, const Ask& ask);
  bool is_connected() const;
  bool is_attached(const Mailbox& mailbox) const;
  void abandon(const Mailbox& mailbox);
  void condemn_when_mute();

  // The thread's side.
  void run() noexcept;
  bool wait_for_attempt();
  void serve(ByteStream& stream);
  struct Turn {
    bool over = false;        // the connection has ended
    bool has_output = false;  // more than the stream takes now
    Deadline next{};          // when the session has work even if nothing happens
  };
  Turn take_turn(ByteStream& stream, std::string_view received, const std::string& failure);
  void say_goodbye(TimePoint now);
  void flush(ByteStream& stream, TimePoint now);
  void dispatch();
  void deliver(const std::shared_ptr<Mailbox>& mailbox, SessionEvent event);
  void deliver_to_all(const SessionEvent& event);
  void finish_attempt(std::optional<Failure> failure);
  void end_session(const SessionEvent& event);
  void notify(Lock& lock);

  Failure outage(std::string reason) const;
  Failure blocked_failure() const;
  Failure closed_failure(const SessionEvent& event) const;
  Failure login_failure(const SessionEvent& event) const;

  const Url url_;
  const AmqpOptions options_;
  const std::string endpoint_;

  mutable std::mutex mutex_;
  std::condition_variable wanted_;  // an attempt, or the end
  bool stopping_ = false;
  bool goodbye_said_ = false;
  std::shared_ptr<Attempt> attempt_;  // while one is under way
  std::unique_ptr<Session> session_;  // from connecting until the connection ends
  std::map<ChannelId, std::shared_ptr<Mailbox>> routes_;
  std::optional<ChannelId> spare_;  // an open channel for the next request
  std::string blocked_reason_;
  std::uint64_t last_request_ = 0;
  std::optional<Deadline> unanswered_since_;  // a question, with no word about any channel since
  std::string condemned_;                     // why the thread shall give up the connection
  std::set<std::shared_ptr<Waiter>> news_;    // whom to notify once the mutex is free
  std::unique_ptr<Io> io_;                    // from the first attempt on
};

}  // namespace acemq::amqp
