// How to test a service that writes to an outbox: no broker, no thread, no sleep. Time passes only when the test says so.
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/testing.hpp>

namespace {

using namespace std::chrono_literals;
using acemq::testing::FakeTransport;
using acemq::testing::ManualClock;
using acemq::testing::MemoryStore;

// The service under test writes to the outbox that it is given: in production
//   [&](const auto& record) { acemq::outbox::add(db, record); }
class Shop {
 public:
  using Outbox = std::function<void(const acemq::outbox::Record&)>;
  Shop(Outbox outbox, acemq::MessageFactoryOptions options) : outbox_(std::move(outbox)), messages_(std::move(options)) {}

  void place_order(const std::string& id) {
    outbox_(acemq::outbox::record(messages_, R"({"order":")" + id + R"("})",
                                  {.to = "order.placed", .exchange = "shop-events", .id = "order-" + id}));
  }

 private:
  Outbox outbox_;
  acemq::MessageFactory messages_;
};

// What every test starts from.
struct Fixture {
  ManualClock clock;
  acemq::testing::SeededRandom random{1};
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>(clock);
  std::shared_ptr<FakeTransport> broker = std::make_shared<FakeTransport>(clock);
  acemq::outbox::Relay relay{store, broker, {.clock = &clock, .random = &random}};
  Shop shop{[this](const acemq::outbox::Record& record) { store->add(record); },
            {.origin = "shop@test", .clock = &clock, .random = &random}};

  // sweep() throws the first failure once everything that could be settled is settled. Returns its words.
  std::string sweep_fails() {
    try {
      relay.sweep();
    } catch (const acemq::PublishError& error) {
      return error.failure().reason;
    }
    throw std::logic_error("the sweep should have failed");
  }
  MemoryStore::StoredRow row() const { return store->rows().at(0); }
};

// Any test framework has this; the examples do without one.
void expect(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error("does not hold: " + what);
  std::cout << "  " << what << '\n';
}

void an_order_is_announced() {
  Fixture f;
  f.shop.place_order("A-1");
  f.relay.sweep();

  expect(f.broker->published().size() == 1, "one message was sent");
  expect(f.broker->published()[0].routing_key == "order.placed", "as order.placed");
  expect(f.broker->published()[0].body == R"({"order":"A-1"})", "with the order in it");
}

// No queue is bound: the broker returns the message. It counts as an attempt, waits, and is tried again.
void an_unroutable_message_is_kept_and_tried_again() {
  Fixture f;
  f.broker->script([](const acemq::Message&, std::size_t copy) {
    return copy == 1 ? FakeTransport::Answer::unroutable() : FakeTransport::Answer::confirm();
  });
  f.shop.place_order("A-1");
  f.sweep_fails();
  expect(f.row().row.attempts == 1, "one attempt was counted");
  expect(!f.row().last_error.empty(), "the row says why");

  f.clock.advance(2s);
  f.relay.sweep();
  expect(f.row().published_at.has_value(), "the second attempt delivered it");
}

// The broker is away: that is nobody's fault, and however long it lasts no attempt is counted.
void an_outage_costs_no_attempts() {
  Fixture f;
  f.shop.place_order("A-1");
  f.broker->refuse_connections("connection refused");
  for (int hour = 0; hour < 24; ++hour) {
    f.sweep_fails();
    f.clock.advance(1h);
  }
  expect(f.row().row.attempts == 0, "a day without a broker counted nothing");

  f.broker->refuse_connections("");
  f.relay.sweep();
  expect(f.row().published_at.has_value(), "then it went out");
}

// The confirm is lost: the message is in the queue, and the relay cannot know. It sends it again; the id tells consumers.
void a_lost_confirm_repeats_the_message() {
  Fixture f;
  f.broker->script([](const acemq::Message&, std::size_t copy) {
    return copy == 1 ? FakeTransport::Answer::drop() : FakeTransport::Answer::confirm();
  });
  f.shop.place_order("A-1");
  f.sweep_fails();  // "not confirmed in time"
  expect(f.broker->published().size() == 1, "the message went out although the sweep failed");
  expect(f.row().row.attempts == 0, "no attempt was counted");

  f.relay.sweep();
  expect(f.row().published_at.has_value(), "the next sweep was told");
  expect(f.broker->published().size() == 2, "of a second copy");
  expect(f.broker->published()[0].message_id == f.broker->published()[1].message_id, "with the same id");
}

// A request that is retried gives the same id, and so the same message.
void a_repeated_request_sends_one_message() {
  Fixture f;
  f.shop.place_order("A-1");
  f.shop.place_order("A-1");
  f.relay.sweep();
  expect(f.broker->published().size() == 1, "the same id twice is one message");
}

}  // namespace

int main() try {
  std::cout << "an order is announced\n";
  an_order_is_announced();
  std::cout << "an unroutable message is kept and tried again\n";
  an_unroutable_message_is_kept_and_tried_again();
  std::cout << "an outage costs no attempts\n";
  an_outage_costs_no_attempts();
  std::cout << "a lost confirm repeats the message\n";
  a_lost_confirm_repeats_the_message();
  std::cout << "a repeated request sends one message\n";
  a_repeated_request_sends_one_message();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
