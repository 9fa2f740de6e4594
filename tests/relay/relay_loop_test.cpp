// The relay's loop on its own thread: start, wake, close, callbacks, and stores that can do little. Threads meet at promises,
// never at a sleep; the broker without a socket lets the manual clock pass instead of waiting.
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relay_fixture.hpp"

namespace acemq::outbox {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RelayTest;
using ::testing::SizeIs;

// Fulfils a promise when `count` messages are out.
class CountDown : public Observer {
 public:
  explicit CountDown(std::size_t count) : left_(count) {}
  void on_delivered(const DeliveryReport& report) override {
    if (report.overtook) ++overtook;
    if (left_ > 0 && --left_ == 0) done_.set_value();
  }
  bool reached() { return done_.get_future().wait_for(60s) == std::future_status::ready; }
  std::size_t overtook = 0;

 private:
  std::size_t left_;
  std::promise<void> done_;
};

class RelayLoopTest : public RelayTest {
 protected:
  std::shared_ptr<CountDown> expect_delivered(std::size_t count) {
    auto observer = std::make_shared<CountDown>(count);
    options.observer = observer;
    return observer;
  }
};

// The loop delivers what is there and what comes later, in many batches, each once.
TEST_F(RelayLoopTest, DeliversEverythingOnce) {
  auto delivered = expect_delivered(3000);
  add_many(2000, "m");
  relay().start();
  relay().start();  // started already: nothing happens
  add_many(1000, "n");
  relay().wake();
  ASSERT_TRUE(delivered->reached());
  relay().close();
  EXPECT_EQ(pending(), 0u);
  EXPECT_THAT(broker->published(), SizeIs(3000));
  EXPECT_EQ(relay().stats().state, RelayState::stopped);
}

// While one window is being confirmed the next rows are claimed: the broker never waits for the database.
TEST_F(RelayLoopTest, WindowStaysFullAcrossBatches) {
  auto delivered = expect_delivered(2000);
  options.window = 400;
  broker->answer_at_most(50);
  std::size_t answered = 0;
  std::size_t least = 1000;
  broker->script([&](const Message&, std::size_t) {
    const std::size_t unanswered = broker->publishes() - answered++;
    if (answered > 400 && answered < 1500) least = std::min(least, unanswered);
    return Answer::confirm();
  });
  add_many(2000, "m");
  relay().start();
  ASSERT_TRUE(delivered->reached());
  relay().close();
  EXPECT_GE(least, 350u);  // what one burst of confirms takes away
}

// Half a window is claimed beyond what may be unconfirmed, so that a burst of confirms is followed by messages, not by a query.
TEST_F(RelayLoopTest, RowsAreAtHandBeforeTheWindowOpens) {
  auto delivered = expect_delivered(1);
  options.window = 4;
  options.batch = 2;
  broker->answer_at_most(1);
  std::size_t leased_at_first_answer = 0;
  broker->script([&](const Message&, std::size_t copy) {
    if (copy == 1 && leased_at_first_answer == 0) {
      leased_at_first_answer = store->backlog(options.attempts_max)->leased;
      EXPECT_EQ(broker->publishes(), 4u);
    }
    return Answer::confirm();
  });
  add_many(20, "m");
  relay().start();
  ASSERT_TRUE(delivered->reached());
  relay().close();
  EXPECT_EQ(leased_at_first_answer, 6u);
}

// Each ordering delivers everything; serial order never has two messages unconfirmed.
TEST_F(RelayLoopTest, EveryOrderingDelivers) {
  for (const Ordering ordering : {Ordering::stream, Ordering::lane, Ordering::serial}) {
    SCOPED_TRACE(static_cast<int>(ordering));
    options.ordering = ordering;
    auto delivered = expect_delivered(250);
    std::size_t answered = broker->publishes();
    std::size_t most = 0;
    broker->script([&](const Message&, std::size_t) {
      most = std::max(most, broker->publishes() - answered++);
      return Answer::confirm();
    });
    add_many(250, "o" + std::to_string(static_cast<int>(ordering)) + "-");
    new_relay();
    relay().start();
    ASSERT_TRUE(delivered->reached());
    relay().close();
    EXPECT_LE(most, ordering == Ordering::stream ? options.window : 1u);
  }
}

// B09: a second relay that claims while the first has its rows in flight takes others; nothing goes out twice.
TEST_F(RelayLoopTest, B09_SeveralRelaysShareTheWork) {
  add_many(300, "m");
  Relay second(store, broker, options);
  std::size_t by_second = 0;
  bool once = true;
  broker->script([&](const Message&, std::size_t) {
    if (std::exchange(once, false)) by_second = second.sweep();  // the first relay waits for its confirms meanwhile
    return Answer::confirm();
  });
  EXPECT_EQ(relay().sweep(), 100u);
  EXPECT_EQ(by_second, 100u);
  EXPECT_EQ(second.sweep() + relay().sweep(), 100u);
  EXPECT_THAT(broker->published(), SizeIs(300));
}

// B53: close() waits for outstanding confirms and marks them, gives the rest back, and sends nothing twice.
TEST_F(RelayLoopTest, B53_CloseDrains) {
  options.window = 100;
  broker->answer_at_most(1);
  add_many(1000, "m");
  std::promise<void> half_way;
  std::size_t answered = 0;
  broker->script([&](const Message&, std::size_t) {
    if (++answered == 300) half_way.set_value();
    return Answer::confirm();
  });
  relay().start();
  half_way.get_future().wait();
  relay().close();
  const auto rows = store->rows();
  std::size_t published = 0;
  for (const auto& each : rows) {
    EXPECT_EQ(each.locked_by, "") << each.row.id;
    if (each.published_at) ++published;
  }
  EXPECT_GE(published, 300u);
  EXPECT_EQ(broker->publishes(), published);  // everything sent was confirmed and marked
  options.observer = nullptr;
  new_relay();
  broker->answer_at_most(0);
  broker->script({});
  sweep_all(20, 1ms);
  EXPECT_THAT(broker->published(), SizeIs(1000));
}

// A confirm that never comes does not keep close() beyond its time; the row is given back.
TEST_F(RelayLoopTest, CloseIsBounded) {
  add("a");
  std::promise<void> sent;
  broker->script([&](const Message&, std::size_t) {
    relay().close();  // here it only asks for the stop: the clock does not run on until then
    sent.set_value();
    return Answer::drop();
  });
  options.confirm_timeout = 1h;
  relay().start();
  sent.get_future().wait();
  relay().close();
  EXPECT_EQ(row("a").locked_by, "");
  EXPECT_FALSE(row("a").published_at);
}

// The connection breaks while close() waits for confirms: what was sent is counted as unanswered, since it will be sent again.
TEST_F(RelayLoopTest, ConnectionLostWhileClosing) {
  struct DropsWhenClosing : Observer {
    explicit DropsWhenClosing(testing::FakeTransport& transport) : broker(transport) {}
    void on_state(RelayState state, std::string_view) override {
      if (state == RelayState::closing) broker.drop_connections();
    }
    testing::FakeTransport& broker;
  };
  add("a");
  std::promise<void> sent;
  broker->script([&](const Message&, std::size_t) {
    relay().close();  // here it only asks for the stop: the clock does not run on until then
    sent.set_value();
    return Answer::drop();
  });
  options.confirm_timeout = 1h;
  options.observer = std::make_shared<DropsWhenClosing>(*broker);
  relay().start();
  sent.get_future().wait();
  relay().close();
  EXPECT_EQ(relay().stats().unanswered, 1u);
  EXPECT_EQ(row("a").locked_by, "");
  EXPECT_FALSE(row("a").published_at);
}

// Nothing that a callback throws, and nothing that it calls, kills or blocks the loop.
TEST_F(RelayLoopTest, CallbacksCannotHarmTheLoop) {
  auto delivered = expect_delivered(1);
  broker->refuse_connections("refused");
  std::promise<void> reported;
  bool first = true;
  std::string inside;
  options.on_error = [&](const FailureReport& report) {
    EXPECT_EQ(report.failure.failure_class, FailureClass::outage);
    if (!std::exchange(first, false)) return;
    try {
      relay().sweep();
    } catch (const std::logic_error& error) {
      inside = error.what();
    }
    reported.set_value();
    throw std::runtime_error("from a callback");
  };
  add("a");
  relay().start();
  reported.get_future().wait();
  broker->refuse_connections("");
  ASSERT_TRUE(delivered->reached());
  relay().close();
  EXPECT_THAT(inside, HasSubstr("inside a callback"));
}

// close() inside a callback only asks: the loop ends by itself, and a close() from outside finds it ended.
TEST_F(RelayLoopTest, CloseInsideACallback) {
  broker->refuse_connections("refused");
  std::promise<void> asked;
  bool first = true;
  options.on_error = [&](const FailureReport&) {
    if (!std::exchange(first, false)) return;
    relay().close();
    asked.set_value();
  };
  relay().start();
  asked.get_future().wait();
  relay().close();
  EXPECT_EQ(relay().stats().state, RelayState::stopped);
}

// sweep() and the loop take turns.
TEST_F(RelayLoopTest, SweepBesideTheLoop) {
  relay().start();
  for (int i = 0; i < 50; ++i) {
    add("m" + std::to_string(i));
    relay().sweep();
  }
  while (pending() > 0) relay().sweep();
  relay().close();
  EXPECT_THAT(broker->published(), SizeIs(50));
}

// B23, B30: through an outage of many back-offs everything waits, and goes out afterwards without help.
TEST_F(RelayLoopTest, B30_OutageThenEverythingFlows) {
  auto delivered = expect_delivered(60);
  add_many(20, "a");
  relay().start();
  std::promise<void> many;
  std::size_t failures = 0;
  relay().close();
  new_relay();
  options.on_error = [&](const FailureReport&) {
    if (++failures == 10) many.set_value();
  };
  broker->refuse_connections("Connection refused");
  add_many(20, "b");
  relay().start();
  many.get_future().wait();
  add_many(20, "c");
  broker->refuse_connections("");
  ASSERT_TRUE(delivered->reached());
  relay().close();
  for (const auto& each : store->rows()) EXPECT_EQ(each.row.attempts, 0) << each.row.id;
  EXPECT_THAT(broker->published(), SizeIs(60));
}

// B27: the wait is stored in the row, so six relays together try a refused record no more often than one would.
TEST_F(RelayLoopTest, B27_RelaysDoNotMultiplyAttempts) {
  add("bad", "orders", "bad");
  broker->script([&](const Message&, std::size_t) { return Answer::unroutable(); });
  std::vector<std::unique_ptr<Relay>> relays;
  for (int i = 0; i < 6; ++i) relays.push_back(std::make_unique<Relay>(store, broker, options));
  for (int second = 0; second < 60; ++second) {
    for (std::size_t i = 0; i < relays.size(); ++i) {
      try {
        relays[(i + static_cast<std::size_t>(second)) % relays.size()]->sweep();  // each comes first in its turn
      } catch (const PublishError&) {
      }
    }
    clock.advance(1s);
  }
  EXPECT_THAT(broker->publishes(), ::testing::AllOf(::testing::Ge(5u), ::testing::Le(7u)));  // at 0, 1, 3, 7, 15, 31 seconds
}

// Looks at each renewal on its way to the store.
class RenewalSpy : public Store {
 public:
  RenewalSpy(std::shared_ptr<testing::MemoryStore> inner, const Clock& clock) : inner_(std::move(inner)), clock_(clock) {}
  std::vector<Row> claim(const Claim& claim) override { return inner_->claim(claim); }
  void mark_published(std::span<const std::string> ids) override { inner_->mark_published(ids); }
  std::optional<std::size_t> renew(std::span<const Lease> leases, std::chrono::microseconds lease) override {
    for (const auto& each : inner_->rows()) EXPECT_GT(*each.locked_until, clock_.now());
    ++renewals;
    return inner_->renew(leases, lease);
  }
  std::size_t renewals = 0;

 private:
  std::shared_ptr<testing::MemoryStore> inner_;
  const Clock& clock_;
};

// While confirms are slow leases are renewed long before they end, so that no second relay can claim the rows.
TEST_F(RelayLoopTest, LeasesAreRenewedAtHalf) {
  options.lease = 10s;
  options.confirm_timeout = 2min;
  add("slow");
  broker->script([](const Message&, std::size_t) { return Answer::drop(); });
  auto spy = std::make_shared<RenewalSpy>(store, clock);
  Relay relay(spy, broker, options);
  EXPECT_THROW(relay.sweep(), PublishError);
  EXPECT_GE(spy->renewals, 23u);
  EXPECT_EQ(relay.stats().conflicts, 0u);
}

// The smallest store there is: rows in a map, claim and mark, nothing else.
class SmallestStore : public Store {
 public:
  explicit SmallestStore(const Clock& clock) : clock_(clock) {}
  void add(Row row) {
    const std::lock_guard lock(mutex_);
    const std::string id = row.id;
    rows_[id] = {std::move(row), Timestamp{}};
  }
  std::vector<Row> claim(const Claim& claim) override {
    const std::lock_guard lock(mutex_);
    std::vector<Row> rows;
    for (auto& [id, entry] : rows_) {
      if (rows.size() == claim.rows_max) break;
      if (entry.second > clock_.now()) continue;
      entry.second = clock_.now() + claim.lease;
      rows.push_back(entry.first);
    }
    return rows;
  }
  void mark_published(std::span<const std::string> ids) override {
    const std::lock_guard lock(mutex_);
    for (const auto& id : ids) rows_.erase(id);
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return rows_.size();
  }

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, std::pair<Row, Timestamp>> rows_;
};

// A store of only claim and mark works: a failing record's lane waits for its lease, others go on, and order is kept.
TEST_F(RelayLoopTest, StoreWithOnlyClaimAndMark) {
  auto smallest = std::make_shared<SmallestStore>(clock);
  for (int i = 0; i < 20; ++i)
    smallest->add({.id = "m" + std::to_string(100 + i),
                   .exchange = "orders",
                   .routing_key = i % 2 == 0 ? "even" : "odd",
                   .body = "",
                   .body_encoding = "utf-8",
                   .content_type = "text/plain",
                   .headers = "{}"});
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "m100" && copy == 1 ? Answer::unroutable() : Answer::confirm();
  });
  auto delivered = expect_delivered(20);
  options.window = 1;
  Relay relay(smallest, broker, options);
  relay.start();
  ASSERT_TRUE(delivered->reached());
  relay.close();
  EXPECT_EQ(smallest->size(), 0u);
  std::vector<std::string> even;
  for (const Message& message : broker->published())
    if (message.routing_key == "even") even.push_back(message.message_id);
  EXPECT_THAT(even, SizeIs(10));
}

}  // namespace
}  // namespace acemq::outbox
