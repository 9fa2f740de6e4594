// The relay over a store in memory and a broker without a socket: sending, settling, marking, order, failure. No thread, no
// sleep.
#include "acemq/outbox/relay.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "relay_fixture.hpp"

namespace acemq::outbox {
namespace {

using namespace std::chrono_literals;
using testing::Answer;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::RelayTest;
using ::testing::SizeIs;

// --- the good case ---

// A committed record is published once, as it was written, and marked.
TEST_F(RelayTest, SweepPublishesAndMarks) {
  add("a");
  EXPECT_EQ(relay().sweep(), 1u);
  ASSERT_THAT(broker->published(), SizeIs(1));
  const Message message = broker->published()[0];
  EXPECT_EQ(message.message_id, "a");
  EXPECT_EQ(message.exchange, "orders");
  EXPECT_EQ(message.routing_key, "placed");
  EXPECT_EQ(message.content_type, "application/json");
  EXPECT_EQ(message.body, R"({"id":"a"})");
  EXPECT_TRUE(message.mandatory);
  EXPECT_EQ(*message.headers.find("x-acemq-id")->as_string(), "a");
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(relay().stats().published, 1u);
}

// One sweep is one batch, in the order of writing.
TEST_F(RelayTest, SweepIsOneBatchInOrder) {
  options.batch = 3;
  add_many(5, "m");
  EXPECT_EQ(relay().sweep(), 3u);
  EXPECT_EQ(relay().sweep(), 2u);
  EXPECT_EQ(relay().sweep(), 0u);
  EXPECT_THAT(published_ids(), ElementsAre("m1000", "m1001", "m1002", "m1003", "m1004"));
}

// A stream keeps many messages unconfirmed: the whole batch is handed over before the first confirm is awaited.
TEST_F(RelayTest, StreamSendsBeforeConfirmsArrive) {
  add_many(50, "m");
  std::size_t handed_over_at_first_answer = 0;
  broker->script([&](const Message&, std::size_t) {
    if (handed_over_at_first_answer == 0) handed_over_at_first_answer = broker->publishes();
    return Answer::confirm();
  });
  relay().sweep();
  EXPECT_EQ(handed_over_at_first_answer, 50u);
}

// The window bounds what is unconfirmed at once.
TEST_F(RelayTest, WindowBoundsTheUnconfirmed) {
  options.window = 10;
  broker->answer_at_most(1);
  add_many(40, "m");
  std::size_t answered = 0;
  std::size_t most = 0;
  broker->script([&](const Message&, std::size_t) {
    most = std::max(most, broker->publishes() - answered++);
    return Answer::confirm();
  });
  sweep_all(10);
  EXPECT_EQ(most, 10u);
  EXPECT_EQ(pending(), 0u);
}

// So do their bytes: large bodies come a few at a time, and one larger than the whole window passes alone (B42).
TEST_F(RelayTest, B42_WindowBoundsTheBytes) {
  options.window_bytes = 10'000;
  options.batch = 100;
  for (int i = 0; i < 20; ++i) add_body("m" + std::to_string(100 + i), std::string(3000, 'x'));
  add_body("m200", std::string(50'000, 'x'));
  std::size_t answered = 0;
  std::size_t most = 0;
  broker->script([&](const Message&, std::size_t) {
    most = std::max(most, broker->publishes() - answered++);
    return Answer::confirm();
  });
  sweep_all(20);
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(most, 3u);  // body and headers of the fourth do not fit any more
  EXPECT_THAT(broker->published(), SizeIs(21));
}

// Serial and lane order send what they may and nothing more.
TEST_F(RelayTest, SerialSendsOneAtATime) {
  options.ordering = Ordering::serial;
  add_many(5, "m");
  std::size_t answered = 0;
  broker->script([&](const Message&, std::size_t) {
    EXPECT_EQ(broker->publishes(), ++answered);
    return Answer::confirm();
  });
  sweep_all(10);
  EXPECT_EQ(answered, 5u);
}

TEST_F(RelayTest, LaneOrderSendsOnePerLane) {
  options.ordering = Ordering::lane;
  for (int i = 0; i < 3; ++i) {
    add("a" + std::to_string(i), "orders", "a");
    add("b" + std::to_string(i), "orders", "b");
  }
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "a0" && copy == 1 ? Answer::nack() : Answer::confirm();
  });
  sweep_failure();
  EXPECT_THAT(published_ids(), ElementsAre("b0", "b1", "b2"));  // a1 was never sent
  sweep_all(5);
  EXPECT_EQ(relay().stats().overtaken, 0u);
  EXPECT_EQ(pending(), 0u);
}

// --- refusals (P2, P4, P6) ---

// B02: what no queue wants comes back; it is not published, says where it was going, and its neighbours are not disturbed.
TEST_F(RelayTest, B02_UnroutableIsNotPublished) {
  add("one", "orders", "routed");
  add("two", "orders", "lost");
  add("three", "orders", "routed");
  broker->script([](const Message& message, std::size_t) {
    return message.routing_key == "lost" ? Answer::unroutable() : Answer::confirm();
  });
  const std::string failure = sweep_failure();
  EXPECT_THAT(failure, HasSubstr("exchange 'orders', routing key 'lost'"));
  EXPECT_THAT(published_ids(), ElementsAre("one", "three"));
  EXPECT_FALSE(row("two").published_at);
  EXPECT_EQ(row("two").row.attempts, 1);
  EXPECT_THAT(row("two").last_error, HasSubstr("312 NO_ROUTE"));
  EXPECT_EQ(relay().stats().failures(FailureClass::refusal), 1u);
}

// An exchange named as returning everything is published to without mandatory, and only that one (B29).
TEST_F(RelayTest, B29_MandatoryCanBeSwitchedOffForOneExchange) {
  options.exchanges_without_mandatory = {"delayed"};
  add("a", "delayed", "k");
  add("b", "orders", "k");
  broker->script([](const Message& message, std::size_t) {
    return message.exchange == "delayed" ? Answer::unroutable() : Answer::confirm();
  });
  relay().sweep();
  EXPECT_TRUE(row("a").published_at);
  ASSERT_THAT(broker->published(), SizeIs(1));
  EXPECT_TRUE(broker->published()[0].mandatory);
}

// Ten refusals retire a record; it is kept with its reason and the lane goes on.
TEST_F(RelayTest, TenRefusalsRetireARecordAndTheLaneGoesOn) {
  add("bad", "orders", "k");
  add("good", "orders", "k");
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "bad" ? Answer::unroutable() : Answer::confirm(); });
  sweep_all(30, 61s);
  EXPECT_EQ(row("bad").row.attempts, 10);
  EXPECT_FALSE(row("bad").published_at);
  EXPECT_TRUE(row("good").published_at);
  EXPECT_EQ(store->backlog(10)->retired, 1u);
  EXPECT_EQ(relay().stats().retired, 1u);
  EXPECT_EQ(relay().stats().published, 1u);
}

// P6, B19: behind a failing record nothing of its lane is sent, and other lanes are not delayed.
TEST_F(RelayTest, B19_FailingRecordStopsItsLaneOnly) {
  broker->answer_at_most(1);  // the failure is known before the next record is handed over
  options.window = 1;
  for (const char* id : {"A", "B", "C"}) add(id, "orders", "K");
  add_many(5, "L", "orders", "L");
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "A" && copy <= 2 ? Answer::nack() : Answer::confirm();
  });
  sweep_failure();  // A fails
  sweep_all(20, 10ms);
  EXPECT_THAT(published_ids(), ElementsAre("L1000", "L1001", "L1002", "L1003", "L1004"));
  clock.advance(2s);
  sweep_all(20, 3s);
  const auto ids = published_ids();
  EXPECT_THAT(std::vector(ids.end() - 3, ids.end()), ElementsAre("A", "B", "C"));
  EXPECT_EQ(relay().stats().overtaken, 0u);
}

// Only the first failure of a lane is charged; what was on the wire behind it is given back as it was.
TEST_F(RelayTest, OnlyTheFirstFailureOfALaneIsCharged) {
  add_many(5, "m", "orders", "lost");
  broker->script([](const Message&, std::size_t) { return Answer::unroutable(); });
  sweep_failure();
  EXPECT_EQ(row("m1000").row.attempts, 1);
  for (const char* id : {"m1001", "m1002", "m1003", "m1004"}) {
    EXPECT_EQ(row(id).row.attempts, 0) << id;
    EXPECT_EQ(row(id).locked_by, "") << id;
    EXPECT_FALSE(row(id).locked_until) << id;
  }
}

// After its wait a lane's head goes alone; the rest follows once it is confirmed.
TEST_F(RelayTest, AfterTheWaitTheHeadGoesAlone) {
  add_many(4, "m", "orders", "k");
  bool routable = false;
  std::vector<std::size_t> handed_over;
  broker->script([&](const Message&, std::size_t) {
    handed_over.push_back(broker->publishes());
    return routable ? Answer::confirm() : Answer::unroutable();
  });
  sweep_failure();
  EXPECT_THAT(handed_over, ElementsAre(4, 4, 4, 4));
  handed_over.clear();
  clock.advance(1s + 10ms);
  sweep_failure();
  EXPECT_THAT(handed_over, ElementsAre(5));  // m1000 alone, returned again
  EXPECT_EQ(row("m1000").row.attempts, 2);
  routable = true;
  handed_over.clear();
  clock.advance(2s + 10ms);
  relay().sweep();
  EXPECT_THAT(handed_over, ElementsAre(6, 9, 9, 9));
  EXPECT_THAT(published_ids(), ElementsAre("m1000", "m1001", "m1002", "m1003"));
}

// What got through behind a failing record of its lane is counted, published and not sent again.
TEST_F(RelayTest, OvertakingIsCounted) {
  add_many(3, "m", "orders", "k");
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "m1000" && copy == 1 ? Answer::nack() : Answer::confirm();
  });
  sweep_failure();
  EXPECT_EQ(relay().stats().overtaken, 2u);
  sweep_all(3);
  EXPECT_THAT(published_ids(), ElementsAre("m1001", "m1002", "m1000"));
}

// B25: a full queue costs no attempts, however often it refuses; the other destination drains meanwhile.
TEST_F(RelayTest, B25_NackIsOverloadNotPoison) {
  add_many(20, "full", "orders", "full");
  add_many(20, "free", "orders", "free");
  bool full = true;
  broker->script([&](const Message& message, std::size_t) {
    return full && message.routing_key == "full" ? Answer::nack() : Answer::confirm();
  });
  for (int i = 0; i < 20; ++i) {
    sweep_failure();
    clock.advance(61s);
  }
  EXPECT_EQ(relay().stats().published, 20u);
  for (const auto& each : store->rows()) EXPECT_EQ(each.row.attempts, 0) << each.row.id;
  EXPECT_THAT(row("full1000").last_error, HasSubstr("refused by the broker: queue full or unavailable"));
  EXPECT_EQ(broker->opened(), 1u);
  full = false;
  sweep_all(10);
  EXPECT_EQ(pending(), 0u);
}

// A row that is no message is refused alone and never reaches the wire.
TEST_F(RelayTest, UndecodableRowIsRefusedAlone) {
  add("before");
  store->add_row({.id = "broken",
                  .exchange = "orders",
                  .routing_key = "other",
                  .body = "x",
                  .body_encoding = "gzip",
                  .content_type = "text/plain",
                  .headers = "{}",
                  .created_at = clock.now()});
  add("after");
  const std::string failure = sweep_failure();
  EXPECT_THAT(failure, HasSubstr("gzip"));
  EXPECT_THAT(published_ids(), ElementsAre("before", "after"));
  EXPECT_EQ(row("broken").row.attempts, 1);
}

// A message over a limit of the connection is refused before a byte is sent, and alone.
TEST_F(RelayTest, OverALimitOfTheConnection) {
  add("big", "orders", "big");
  add("small", "orders", "small");
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "big" ? Answer::refuse("headers of 5000 bytes do not fit a frame of 4096") : Answer::confirm();
  });
  EXPECT_THAT(sweep_failure(), HasSubstr("do not fit a frame"));
  EXPECT_THAT(published_ids(), ElementsAre("small"));
  EXPECT_EQ(row("big").row.attempts, 1);
}

// --- missing exchanges and closed channels ---

// B05: a missing exchange is asked for beforehand: one row is refused by name, 199 are published once, no channel is closed.
TEST_F(RelayTest, B05_MissingExchangeClosesNoChannel) {
  options.batch = 200;
  for (int i = 0; i < 200; ++i) add("m" + std::to_string(i), i == 37 ? "nope" : "orders");
  broker->missing_exchange("nope");
  EXPECT_THAT(sweep_failure(), HasSubstr("nope"));
  EXPECT_THAT(published_ids(), SizeIs(199));
  EXPECT_EQ(broker->opened(), 1u);
  EXPECT_EQ(row("m37").row.attempts, 1);
  EXPECT_EQ(relay().stats().resent, 0u);
}

// An exchange that is deleted while it is in use closes the channel: only records of that exchange are charged, a neighbour that
// was left unanswered is delivered again at most once.
TEST_F(RelayTest, ExchangeDeletedWhileInUse) {
  add("first", "vanishing");
  add("other", "orders");
  relay().sweep();
  broker->missing_exchange("vanishing");
  add_many(5, "m", "orders");
  add("gone", "vanishing");
  add_many(5, "n", "orders");
  EXPECT_THAT(sweep_failure(), HasSubstr("vanishing"));
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(row("gone").row.attempts, 1);
  for (int i = 1000; i < 1005; ++i) {
    EXPECT_LE(copies("m" + std::to_string(i)), 2u);
    EXPECT_EQ(copies("n" + std::to_string(i)), 1u);
  }
}

// B28: records that break the channel are found among neighbours by sending one at a time; each neighbour goes out at most twice,
// only the guilty are charged, and at their next attempts they go alone at once.
TEST_F(RelayTest, B28_GuiltyAreFoundWithoutChargingNeighbours) {
  options.batch = 100;
  options.window = 100;
  for (int i = 0; i < 100; ++i) add("m" + std::to_string(100 + i), "orders", "k" + std::to_string(i));
  const auto guilty = [](const std::string& id) { return id == "m110" || id == "m140" || id == "m170"; };
  broker->script([&](const Message& message, std::size_t) {
    return guilty(message.message_id) ? Answer::close_channel(406, "PRECONDITION_FAILED - bad header") : Answer::confirm();
  });
  sweep_failure();
  EXPECT_EQ(pending(), 3u);
  sweep_all(40, 61s);
  for (int i = 0; i < 100; ++i) {
    const std::string id = "m" + std::to_string(100 + i);
    EXPECT_EQ(row(id).row.attempts, guilty(id) ? 10 : 0) << id;
    EXPECT_EQ(row(id).published_at.has_value(), !guilty(id)) << id;
    EXPECT_LE(copies(id), guilty(id) ? 0u : 2u) << id;
  }
  EXPECT_EQ(store->backlog(10)->retired, 3u);
}

// Records that break the channel for different reasons, among healthy ones: after each close the neighbours that may be in the
// queues already are confirmed before anything else is tried, so none of them goes out more than twice.
TEST_F(RelayTest, NeighboursOfManyKindsOfGuiltGoOutTwiceAtMost) {
  options.batch = 120;
  const auto guilty = [](int i) { return i % 20 == 19; };
  for (int i = 0; i < 120; ++i)
    add("m" + std::to_string(100 + i), guilty(i) ? "forbidden" + std::to_string(i) : "orders", "k" + std::to_string(i));
  broker->script([](const Message& message, std::size_t) {
    return message.exchange == "orders" ? Answer::confirm()
                                        : Answer::close_channel(403, "ACCESS_REFUSED - access to exchange '" + message.exchange +
                                                                         "' in vhost '/' refused");
  });
  sweep_failure();
  EXPECT_EQ(pending(), 6u);
  for (int i = 0; i < 120; ++i) {
    const std::string id = "m" + std::to_string(100 + i);
    EXPECT_EQ(row(id).row.attempts, guilty(i) ? 1 : 0) << id;
    EXPECT_LE(copies(id), 2u) << id;
  }
}

// The channel closes while the relay asks for another exchange: what the broker said about the guilty one is not lost over that.
TEST_F(RelayTest, ChannelClosedWhileAskingForAnExchange) {
  add("a", "orders", "a");
  add("bad", "forbidden", "b");
  add("c", "orders", "c");
  add("d", "another", "d");
  broker->script([](const Message& message, std::size_t) {
    return message.exchange == "forbidden"
               ? Answer::close_channel(403, "ACCESS_REFUSED - access to exchange 'forbidden' in vhost '/' refused")
               : Answer::confirm();
  });
  sweep_failure();
  EXPECT_EQ(row("bad").row.attempts, 1);
  for (const char* id : {"a", "c", "d"}) EXPECT_TRUE(row(id).published_at) << id;
  EXPECT_EQ(relay().stats().failures(FailureClass::suspect), 1u);
}

// A record that closes the channel again and again does not make the relay ask for every exchange anew: it asks for each once per
// connection, and again when an exchange was not found or the connection is another one.
TEST_F(RelayTest, ExchangesAreAskedForOncePerConnection) {
  for (int i = 0; i < 10; ++i) add("m" + std::to_string(i), "exchange" + std::to_string(i));
  add("bad", "forbidden");
  bool gone = false;
  broker->script([&](const Message& message, std::size_t) {
    if (message.exchange != "forbidden") return Answer::confirm();
    return gone ? Answer::close_channel(404, "NOT_FOUND - no exchange 'forbidden' in vhost '/'")
                : Answer::close_channel(403, "ACCESS_REFUSED - access to exchange 'forbidden' in vhost '/' refused");
  });
  sweep_all(5, 61s);
  EXPECT_EQ(row("bad").row.attempts, 5);
  EXPECT_EQ(broker->checks(), 11u);
  gone = true;
  sweep_all(1, 61s);
  sweep_all(1, 61s);
  EXPECT_EQ(broker->checks(), 12u);
  broker->drop_connections();
  sweep_all(2, 61s);
  EXPECT_GT(broker->checks(), 12u);
}

// The broker cuts its words at 255 bytes, in the middle of a long exchange name: the words then fit nobody, and the guilty one is
// found all the same.
TEST_F(RelayTest, GuiltIsFoundWhenTheBrokersWordsAreCutOff) {
  const std::string forbidden(240, 'x');
  add("a", "orders", "a");
  add("bad", forbidden, "b");
  add("c", "orders", "c");
  broker->script([&](const Message& message, std::size_t copy) {
    if (message.exchange != forbidden) return Answer::confirm();
    if (copy > 20) return Answer::drop();  // whoever is here must not go on for ever
    return Answer::close_channel(403, ("ACCESS_REFUSED - access to exchange '" + forbidden + "' in vhost").substr(0, 255));
  });
  sweep_failure();
  EXPECT_EQ(row("bad").row.attempts, 1);
  EXPECT_TRUE(row("a").published_at);
  EXPECT_TRUE(row("c").published_at);
  EXPECT_LE(copies("a"), 2u);
}

// Guilt is not "the first record with that exchange's name": earlier ones of the same exchange may be innocent.
TEST_F(RelayTest, GuiltIsNotTheFirstOfThatExchange) {
  for (const char* id : {"a", "b", "c", "d"}) add(id, "limited", std::string("k-") + id);
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "c"
               ? Answer::close_channel(403, "ACCESS_REFUSED - access to exchange 'limited' in vhost '/' refused")
               : Answer::confirm();
  });
  sweep_failure();
  EXPECT_EQ(row("c").row.attempts, 1);
  for (const char* id : {"a", "b", "d"}) {
    EXPECT_EQ(row(id).row.attempts, 0) << id;
    EXPECT_TRUE(row(id).published_at) << id;
  }
}

// A record that failed under a relay of earlier is sent alone by the next: what it does to its neighbours is not known.
TEST_F(RelayTest, AFailedRecordOfEarlierIsSentAlone) {
  add_many(5, "m", "orders", "x");
  store->add_row({.id = "veteran",
                  .exchange = "orders",
                  .routing_key = "y",
                  .body = "",
                  .body_encoding = "utf-8",
                  .content_type = "text/plain",
                  .headers = "{}",
                  .created_at = clock.now() - 1h,
                  .attempts = 3});
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "veteran" ? Answer::close_channel(406, "PRECONDITION_FAILED") : Answer::confirm();
  });
  sweep_failure();
  EXPECT_EQ(row("veteran").row.attempts, 4);
  EXPECT_EQ(pending(), 1u);
  EXPECT_EQ(relay().stats().resent, 0u);
}

// --- outages, doubt ---

// B23: an outage costs no attempts, however long, and everything goes out afterwards without help.
TEST_F(RelayTest, B23_OutageCostsNoAttempts) {
  add_many(50, "m");
  broker->refuse_connections("cannot connect to mq:5672: Connection refused");
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(sweep_failure(), HasSubstr("Connection refused"));
    clock.advance(30s);
  }
  EXPECT_EQ(broker->publishes(), 0u);
  for (const auto& each : store->rows()) EXPECT_EQ(each.row.attempts, 0);
  broker->refuse_connections("");
  EXPECT_EQ(relay().sweep(), 50u);
}

// What was in flight when the connection was lost is sent again; what was confirmed is not.
TEST_F(RelayTest, ConnectionLostInFlight) {
  add_many(10, "m");
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "m1005" && copy == 1 ? Answer::close_connection(320, "CONNECTION_FORCED") : Answer::confirm();
  });
  sweep_failure();
  sweep_all(3);
  EXPECT_EQ(pending(), 0u);
  for (int i = 1000; i < 1010; ++i) EXPECT_LE(copies("m" + std::to_string(i)), 2u);
  for (const auto& each : store->rows()) EXPECT_EQ(each.row.attempts, 0);
  EXPECT_EQ(relay().stats().reconnects, 1u);
  EXPECT_EQ(relay().stats().resent, 10u);
}

// B03: one confirm is swallowed on a connection that looks alive: 19 rows are published, the other is sent again on a fresh
// channel.
TEST_F(RelayTest, B03_LostConfirmIsResentOnAFreshChannel) {
  add_many(20, "m");
  broker->script([](const Message& message, std::size_t copy) {
    return message.message_id == "m1006" && copy == 1 ? Answer::drop() : Answer::confirm();
  });
  EXPECT_THAT(sweep_failure(), HasSubstr("not confirmed in time"));
  EXPECT_EQ(pending(), 1u);
  relay().sweep();
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(copies("m1006"), 2u);
  EXPECT_EQ(copies("m1005"), 1u);
  EXPECT_EQ(row("m1006").row.attempts, 0);
  EXPECT_EQ(relay().stats().failures(FailureClass::in_doubt), 1u);
}

// A record whose confirm never comes is isolated after three doubts and charged only because its neighbours are fine.
TEST_F(RelayTest, NeverConfirmedRecordIsChargedOnlyAmongHealthyNeighbours) {
  add("silent", "orders", "silent");
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "silent" ? Answer::drop() : Answer::confirm(); });
  for (int i = 0; i < 8; ++i) {
    sweep_failure();
    clock.advance(61s);
  }
  EXPECT_EQ(row("silent").row.attempts, 0);  // nobody else shows that the broker works
  for (int i = 0; i < 8; ++i) {
    add("neighbour" + std::to_string(i), "orders", "fine");
    sweep_failure();
    clock.advance(61s);
  }
  EXPECT_GE(row("silent").row.attempts, 1);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(copies("neighbour" + std::to_string(i)), 1u);
}

// A blocked broker is an outage: a sweep says so, claims nothing and charges nothing.
TEST_F(RelayTest, B32_BlockedBrokerIsAnOutage) {
  relay().sweep();
  broker->block("low on memory");
  add("a");
  EXPECT_THAT(sweep_failure(), HasSubstr("blocked"));
  EXPECT_EQ(row("a").row.attempts, 0);
  EXPECT_EQ(row("a").locked_by, "");
  broker->unblock();
  EXPECT_EQ(relay().sweep(), 1u);
}

// --- the store ---

// A store error surfaces from the sweep, and nothing is lost.
TEST_F(RelayTest, StoreErrorSurfacesAndNothingIsLost) {
  add("a");
  store->fail_next(1, "disk I/O error");
  EXPECT_THROW(relay().sweep(), StoreError);
  EXPECT_EQ(broker->publishes(), 0u);
  EXPECT_EQ(relay().sweep(), 1u);
}

// Confirmed but not marked: the mark is made up for, and the message is not sent again.
TEST_F(RelayTest, FailedMarkIsMadeUpFor) {
  add("a");
  broker->script([&](const Message&, std::size_t) {
    store->fail_next(1, "database is locked");
    return Answer::confirm();
  });
  EXPECT_THROW(relay().sweep(), StoreError);
  broker->script({});
  clock.advance(2min);  // the lease is over
  relay().sweep();
  EXPECT_EQ(pending(), 0u);
  EXPECT_EQ(copies("a"), 1u);
}

// Without a lease that can be trusted nothing is sent: a relay that was frozen for longer than its lease, while another took its
// rows, sends none of them.
TEST_F(RelayTest, NothingIsSentWhoseLeaseMayHaveRunOut) {
  add("a");
  add("b");
  options.ordering = Ordering::serial;
  broker->script([&](const Message&, std::size_t) {
    clock.advance(2min);  // frozen
    store->claim({.token = "another"});
    return Answer::confirm();
  });
  relay().sweep();
  EXPECT_THAT(published_ids(), ElementsAre("a"));
  EXPECT_GE(relay().stats().conflicts, 1u);
  EXPECT_EQ(row("b").locked_by, "another");
}

// --- reporting ---

struct Recorder : Observer {
  std::vector<std::string> delivered, failed, states;
  void on_delivered(const DeliveryReport& report) override { delivered.emplace_back(report.id); }
  void on_failed(const FailureReport& report) override { failed.emplace_back(report.id); }
  void on_state(RelayState state, std::string_view) override {
    states.emplace_back(to_string(state));
    throw std::runtime_error("from a callback");
  }
};

// Observers hear of everything; what they throw changes nothing.
TEST_F(RelayTest, ObserverHearsAndCannotHarm) {
  auto recorder = std::make_shared<Recorder>();
  options.observer = recorder;
  add("a", "orders", "a");
  add("b", "orders", "b");
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "b" ? Answer::nack() : Answer::confirm(); });
  sweep_failure();
  EXPECT_THAT(recorder->delivered, ElementsAre("a"));
  EXPECT_THAT(recorder->failed, ElementsAre("b"));
  EXPECT_THAT(recorder->states, ElementsAre("connecting", "running"));
}

// Options out of bounds are refused with the option, the bound and the value.
TEST_F(RelayTest, OptionsAreChecked) {
  options.interval = 1ms;
  try {
    relay();
    FAIL();
  } catch (const InvalidConfiguration& error) {
    EXPECT_EQ(error.field(), "interval");
    EXPECT_THAT(error.what(), HasSubstr("10 ms"));
    EXPECT_EQ(error.value(), "1");
  }
}

// After close() the relay is over: no sweep, no start, and closing again is fine.
TEST_F(RelayTest, CloseIsFinalAndRepeatable) {
  add("a");
  relay().close();
  relay().close();
  EXPECT_THROW(relay().sweep(), std::logic_error);
  EXPECT_THROW(relay().start(), std::logic_error);
  EXPECT_EQ(relay().stats().state, RelayState::stopped);
  EXPECT_EQ(pending(), 1u);
}

}  // namespace
}  // namespace acemq::outbox
