// Connection: publishes straight to the broker and waits for its confirm, for messages that do not deserve an outbox.
//
//   acemq::Connection shop{acemq::MessageFactory{{.origin = "shop@web-1"}}, transport};
//   const acemq::PublishOutcome outcome = shop.publish(R"({"page":"/cart"})", {.to = "page.seen", .exchange = "shop-events"});
//   if (!outcome.confirmed()) log(outcome.failure->reason);       // or: outcome.or_throw();
//
// What it does not promise: nothing is written down. A message that was not confirmed is gone unless the caller keeps it, a crash
// loses what is on the way, and a message published inside a transaction is out even when that transaction rolls back. Where
// this matters use the outbox; after_commit.hpp removes the last of the three only. Nothing is sent again by itself: to try
// again, publish with the same id, so that consumers recognise a duplicate.
//
// On the wire a message is the same as through the outbox (CONTRACT 7.1).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acemq/clock.hpp"
#include "acemq/error.hpp"
#include "acemq/message_factory.hpp"
#include "acemq/outbox/record.hpp"
#include "acemq/transport.hpp"

namespace acemq {

// What became of one message. A value, since each of these is an ordinary day; or_throw() for callers who cannot go on.
struct [[nodiscard]] PublishOutcome {
  enum class Kind {
    confirmed,   // the broker has it; with `mandatory`, in a queue
    unroutable,  // the broker took it, and no queue wanted it: dropped
    failed,      // sent, and nacked or never answered; answers().may_have_happened says whether it can be there
    refused,     // nothing was sent: no connection, blocked, no such exchange, over a limit of the connection
  };
  Kind kind = Kind::confirmed;
  std::string id = {};                            // of the message
  std::optional<Failure> failure = std::nullopt;  // of every kind but confirmed

  bool confirmed() const noexcept { return kind == Kind::confirmed; }
  ErrorAnswers answers() const noexcept { return failure ? failure->answers() : ErrorAnswers{}; }
  // Throws PublishError unless confirmed.
  void or_throw() const;
};
std::string_view to_string(PublishOutcome::Kind kind) noexcept;

struct [[nodiscard]] BatchOutcome {
  std::vector<PublishOutcome> outcomes = {};  // in the order of the records given

  bool all_confirmed() const noexcept { return first_failure() == nullptr; }
  std::size_t confirmed() const noexcept;
  // In the order given; nullptr when all are confirmed. Valid as long as this value is unchanged.
  const PublishOutcome* first_failure() const noexcept;
  // Throws PublishError with both counts and the first failure unless all are confirmed.
  void or_throw() const;
};

// Looks at direct publishes, never at what goes through the outbox. Called on the publishing thread, by several at once when
// several publish. All have the lower order first.
class Interceptor {
 public:
  virtual ~Interceptor() = default;
  virtual int order() const { return 0; }
  // May change anything but the message id; the result is checked as a record is. An exception stops the publish, reaches its
  // caller, and nothing is sent; of a batch nothing at all.
  virtual void before_publish(Message& /*message*/) {}
  // What these throw is contained and changes nothing.
  virtual void after_confirm(const Message& /*message*/) {}
  virtual void on_error(const Message& /*message*/, const PublishOutcome& /*outcome*/) {}
};

// One outside its bounds is refused by the constructor with its name.
struct ConnectionOptions {
  // How long to go without an answer: for one message the wait for its confirm, for a batch the wait between two answers.
  std::chrono::milliseconds confirm_timeout = std::chrono::seconds(30);  // 100 ms … 1 h
  // For opening a channel, connecting if need be, and again for the first use of an exchange, which is asked about.
  std::chrono::milliseconds open_timeout = std::chrono::seconds(10);  // 1 ms … 1 h
  // Unroutable messages are reported instead of being confirmed and dropped. The family lets each library choose for its direct
  // publishes (CONTRACT 7.2); ours are on the safe side. Switch it off for events that may have no listener and for exchange
  // types that return everything (delayed-message); an interceptor can do so for a single message.
  bool mandatory = true;
  // Sent and unanswered at once, over all threads; 1 … 100 000. Beyond 16 MiB of bodies fewer; one larger message passes alone.
  std::size_t unconfirmed_max = 1000;
  std::vector<std::shared_ptr<Interceptor>> interceptors = {};
  // Must outlive the connection; nullptr means the machine's own.
  const Clock* clock = nullptr;
};

// The part that does not depend on a codec. Thread-safe: all threads share one channel, and their messages one window, so that
// nobody waits for another's round trip. No thread of its own; it connects when first used, and again after an outage.
class Publisher {
 public:
  // Does not connect. Throws InvalidConfiguration.
  Publisher(std::shared_ptr<Transport> transport, ConnectionOptions options = {});
  // Nobody may be publishing any more.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // Publishes what outbox::record() made and waits for its confirm, as long as the timeouts allow. Throws InvalidRecord for a
  // record that was put together by hand and breaks a rule, and what before_publish() throws.
  PublishOutcome publish(outbox::Record record);

  // Writes all, then awaits all; not atomic, and a failure does not stop those behind it. Throws as publish(), and then nothing
  // was sent.
  BatchOutcome publish_all(std::vector<outbox::Record> records);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Where to, under which type, id and headers: the same as for a record.
using PublishOptions = outbox::RecordOptions;

template <class Codec>
class BasicConnection : public Publisher {
 public:
  BasicConnection(BasicMessageFactory<Codec> factory, std::shared_ptr<Transport> transport, ConnectionOptions options = {})
      : Publisher(std::move(transport), std::move(options)), factory_(std::move(factory)) {}

  using Publisher::publish;
  // Throws as outbox::record(), and as above.
  template <CodecPayload<Codec> Payload>
  PublishOutcome publish(const Payload& payload, PublishOptions options) {
    return Publisher::publish(outbox::record(factory_, payload, std::move(options)));
  }

  // For outbox::record(): records for publish_all(), AfterCommit or an outbox.
  const BasicMessageFactory<Codec>& factory() const noexcept { return factory_; }

 private:
  BasicMessageFactory<Codec> factory_;
};

using Connection = BasicConnection<JsonCodec>;

}  // namespace acemq
