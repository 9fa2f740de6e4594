#include "acemq/connection.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "publish/patient_broker.hpp"
#include "publish/publish_fixture.hpp"

namespace acemq::test {
namespace {

using namespace std::chrono_literals;
using Kind = PublishOutcome::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;

class ConnectionTest : public PublishTest {};

// A confirmed publish: the message is at the broker, with envelope, persistent properties' values and mandatory, and nothing
// failed.
TEST_F(ConnectionTest, AConfirmedMessageIsAtTheBroker) {
  const PublishOutcome outcome =
      connection().publish(R"({"page":"/"})", {.to = "page.seen", .exchange = "shop-events", .headers = {{"tenant", "acme"}}});
  EXPECT_TRUE(outcome.confirmed());
  EXPECT_FALSE(outcome.failure);
  outcome.or_throw();
  ASSERT_EQ(broker->published().size(), 1U);
  const Message message = broker->published().front();
  EXPECT_EQ(message.exchange, "shop-events");
  EXPECT_EQ(message.routing_key, "page.seen");
  EXPECT_EQ(message.message_id, outcome.id);
  EXPECT_EQ(message.content_type, "application/json");
  EXPECT_EQ(message.body, R"({"page":"/"})");
  EXPECT_TRUE(message.mandatory);
  EXPECT_EQ(*message.headers.find("x-acemq-id"), HeaderValue(outcome.id));
  EXPECT_EQ(*message.headers.find("tenant"), HeaderValue("acme"));
}

// Nothing connects before the first publish; one channel serves all later ones.
TEST_F(ConnectionTest, ConnectsWhenFirstUsed) {
  connection();
  EXPECT_EQ(broker->opened(), 0U);
  EXPECT_EQ(publish("a").kind, Kind::confirmed);
  EXPECT_EQ(publish("b").kind, Kind::confirmed);
  EXPECT_EQ(broker->opened(), 1U);
}

// Without a broker a publish is refused with the reason and nothing is sent; once the broker is back the next one connects.
TEST_F(ConnectionTest, NoBrokerIsARefusal) {
  broker->refuse_connections("connection refused by mq.example:5672");
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.failure->failure_class, FailureClass::outage);
  EXPECT_EQ(outcome.failure->reason, "connection refused by mq.example:5672");
  EXPECT_TRUE(outcome.answers().try_again);
  EXPECT_FALSE(outcome.answers().may_have_happened);
  EXPECT_EQ(broker->publishes(), 0U);

  broker->refuse_connections("");
  EXPECT_EQ(publish("a").kind, Kind::confirmed);
}

// A blocked broker: refused before anything is written, with the broker's reason; fine again afterwards.
TEST_F(ConnectionTest, ABlockedBrokerIsARefusal) {
  EXPECT_EQ(publish("a").kind, Kind::confirmed);
  broker->block("low on memory");
  const PublishOutcome outcome = publish("b");
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.failure->reason, "blocked by the broker: low on memory");
  EXPECT_FALSE(outcome.answers().may_have_happened);
  EXPECT_EQ(broker->publishes(), 1U);

  broker->unblock();
  EXPECT_EQ(publish("b").kind, Kind::confirmed);
  EXPECT_THAT(published_ids(), ElementsAre("a", "b"));
}

// Blocked from the start: told on opening.
TEST_F(ConnectionTest, ABrokerBlockedFromTheStartIsARefusal) {
  broker->block("low on disk");
  EXPECT_EQ(publish("a").kind, Kind::refused);
  EXPECT_EQ(broker->publishes(), 0U);
}

// B32: a broker that blocks with a message on the way cannot hold the caller for longer than the confirm timeout.
TEST_F(ConnectionTest, B32_BlockedWhileAwaitingEndsInDoubt) {
  EXPECT_EQ(publish("a").kind, Kind::confirmed);
  broker->answer_at_most(1);
  broker->script([&](const Message& message, std::size_t) {
    if (message.message_id == "b") broker->block("low on memory");
    return Answer::confirm();
  });
  const BatchOutcome batch = publish_all({"b", "c"});
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::confirmed, Kind::failed));
  EXPECT_EQ(batch.outcomes[1].failure->failure_class, FailureClass::in_doubt);
}

// Unroutable: reported because mandatory is the default; without it confirmed and dropped, as the broker does.
TEST_F(ConnectionTest, AnUnroutableMessageIsReported) {
  broker->script([](const Message&, std::size_t) { return Answer::unroutable(); });
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::unroutable);
  EXPECT_EQ(outcome.failure->code, 312);
  EXPECT_EQ(outcome.failure->reason, "returned by the broker: no queue is bound for it");
  EXPECT_EQ(outcome.failure->server_text, "NO_ROUTE");
  EXPECT_FALSE(outcome.answers().may_have_happened);

  options.mandatory = false;
  new_connection();
  EXPECT_EQ(publish("b").kind, Kind::confirmed);
  EXPECT_THAT(published_ids(), IsEmpty());
}

// A nack is a failure, and since one full queue among several makes one the message may have arrived.
TEST_F(ConnectionTest, ANackIsAFailure) {
  broker->script([](const Message&, std::size_t) { return Answer::nack(); });
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::failed);
  EXPECT_EQ(outcome.failure->failure_class, FailureClass::overload);
  EXPECT_TRUE(outcome.answers().may_have_happened);
}

// Over a limit of the connection: refused, nothing sent, and the message is at fault.
TEST_F(ConnectionTest, OverALimitIsARefusal) {
  broker->script([](const Message&, std::size_t) { return Answer::refuse("headers over one frame"); });
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::refused);
  EXPECT_EQ(outcome.failure->reason, "over a limit of the connection: headers over one frame");
  EXPECT_TRUE(outcome.answers().record_at_fault);
}

// B03: a confirm that never comes ends in doubt after the confirm timeout and is not sent again by itself; what follows goes over
// a new channel, so that lost confirms cannot pile up.
TEST_F(ConnectionTest, B03_ALostConfirmEndsInDoubt) {
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "lost" ? Answer::drop() : Answer::confirm(); });
  const auto before = clock.since_boot();
  const PublishOutcome outcome = publish("lost");
  EXPECT_EQ(clock.since_boot() - before, options.confirm_timeout);
  EXPECT_EQ(outcome.kind, Kind::failed);
  EXPECT_EQ(outcome.failure->failure_class, FailureClass::in_doubt);
  EXPECT_EQ(outcome.failure->reason, "not confirmed in time");
  EXPECT_TRUE(outcome.answers().may_have_happened);
  EXPECT_EQ(broker->publishes(), 1U);

  EXPECT_EQ(publish("next").kind, Kind::confirmed);
  EXPECT_EQ(broker->opened(), 2U);
}

// A connection lost with the message on the way: in doubt, not resent; the next publish connects anew.
TEST_F(ConnectionTest, ALostConnectionLeavesInDoubt) {
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "a" ? Answer::close_connection(0, "reset by peer") : Answer::confirm();
  });
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::failed);
  EXPECT_EQ(outcome.failure->failure_class, FailureClass::in_doubt);
  EXPECT_EQ(outcome.failure->reason, "the connection was lost");
  EXPECT_EQ(outcome.failure->server_text, "reset by peer");
  EXPECT_EQ(publish("b").kind, Kind::confirmed);
  EXPECT_EQ(broker->publishes(), 2U);
}

// B04: a connection that died while nobody published is noticed before the next message is handed to it.
TEST_F(ConnectionTest, B04_AConnectionThatDiedIdleGetsNoMessage) {
  EXPECT_EQ(publish("a").kind, Kind::confirmed);
  broker->drop_connections(320, "CONNECTION_FORCED");
  EXPECT_EQ(publish("b").kind, Kind::confirmed);
  EXPECT_THAT(published_ids(), ElementsAre("a", "b"));
  EXPECT_EQ(broker->publishes(), 2U);
}

// A message that alone makes the broker close the channel is at fault itself, and is not in doubt.
TEST_F(ConnectionTest, AChannelClosedOverOneMessageNamesIt) {
  broker->script([](const Message&, std::size_t) { return Answer::close_channel(406, "PRECONDITION_FAILED - too large"); });
  const PublishOutcome outcome = publish("a");
  EXPECT_EQ(outcome.kind, Kind::failed);
  EXPECT_EQ(outcome.failure->failure_class, FailureClass::refusal);
  EXPECT_EQ(outcome.failure->code, 406);
  EXPECT_TRUE(outcome.answers().record_at_fault);
  EXPECT_FALSE(outcome.answers().may_have_happened);
}

// B05: a missing exchange is asked about beforehand: its message is refused, its neighbours are confirmed, the channel stays.
TEST_F(ConnectionTest, B05_AMissingExchangeHarmsNoNeighbour) {
  broker->missing_exchange("nowhere");
  std::vector<outbox::Record> records;
  records.push_back(record("a"));
  records.push_back(outbox::record(connection().factory(), "{}", {.to = "k", .exchange = "nowhere", .id = "b"}));
  records.push_back(record("c"));
  const BatchOutcome batch = connection().publish_all(std::move(records));
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::confirmed, Kind::refused, Kind::confirmed));
  EXPECT_EQ(batch.outcomes[1].failure->code, 404);
  EXPECT_EQ(broker->opened(), 1U);
}

// However many messages of a batch name a missing exchange, it is asked about once.
TEST(ConnectionBatch, AMissingExchangeIsAskedAboutOnce) {
  const auto broker = std::make_shared<PatientBroker>(1);
  Connection connection{MessageFactory{{.origin = "shop@web-1"}}, broker};
  std::vector<outbox::Record> records;
  for (int i = 0; i < 3; ++i) {
    records.push_back(outbox::record(connection.factory(), "{}", {.to = "k", .exchange = "nowhere"}));
    records.push_back(outbox::record(connection.factory(), "{}", {.to = "k", .exchange = "somewhere"}));
  }
  EXPECT_THAT(kinds(connection.publish_all(std::move(records))),
              ElementsAre(Kind::refused, Kind::confirmed, Kind::refused, Kind::confirmed, Kind::refused, Kind::confirmed));
  EXPECT_EQ(broker->checks(), 2U);
}

// Results stand in the order given, whatever the order of answers, and the error counts both and quotes the first failure.
TEST_F(ConnectionTest, ABatchReportsInInputOrder) {
  broker->script([](const Message& message, std::size_t) {
    if (message.message_id == "b") return Answer::unroutable();
    if (message.message_id == "d") return Answer::nack();
    return Answer::confirm();
  });
  const BatchOutcome batch = publish_all({"a", "b", "c", "d"});
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::confirmed, Kind::unroutable, Kind::confirmed, Kind::failed));
  EXPECT_EQ(batch.outcomes[3].id, "d");
  EXPECT_EQ(batch.confirmed(), 2U);
  EXPECT_EQ(batch.first_failure(), &batch.outcomes[1]);
  try {
    batch.or_throw();
    FAIL() << "no error";
  } catch (const PublishError& error) {
    EXPECT_STREQ(
        error.what(),
        "refusal: 2 of 4 messages not confirmed; the first, b: returned by the broker: no queue is bound for it (NO_ROUTE)");
    EXPECT_EQ(error.failure().code, 312);
  }
}

// A channel that the broker closed while another exchange was being asked about: its verdict stands, and the rest goes out.
TEST_F(ConnectionTest, AChannelThatClosesDuringAQuestionIsNotAnOutage) {
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "a" ? Answer::close_channel(406, "PRECONDITION_FAILED - bad header") : Answer::confirm();
  });
  std::vector<outbox::Record> records;
  for (const char* id : {"a", "b"})
    records.push_back(outbox::record(connection().factory(), "{}", {.to = "k", .exchange = std::string("x-") + id, .id = id}));
  const BatchOutcome batch = connection().publish_all(std::move(records));
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::failed, Kind::confirmed));
  EXPECT_EQ(batch.outcomes[0].failure->code, 406);
}

// Everything is written before anything is awaited.
TEST_F(ConnectionTest, ABatchIsWrittenBeforeItIsAwaited) {
  std::size_t written_at_first_answer = 0;
  broker->script([&](const Message&, std::size_t) {
    if (written_at_first_answer == 0) written_at_first_answer = broker->publishes();
    return Answer::confirm();
  });
  EXPECT_TRUE(publish_all({"a", "b", "c"}).all_confirmed());
  EXPECT_EQ(written_at_first_answer, 3U);
}

// A channel close in the middle of a batch: what was confirmed stays so, the rest of the window is in doubt, and what had not
// been sent goes over a new channel. Nothing is sent twice.
TEST_F(ConnectionTest, AChannelCloseInABatch) {
  options.unconfirmed_max = 4;
  broker->answer_at_most(1);
  broker->script([](const Message& message, std::size_t) {
    return message.message_id == "c" ? Answer::close_channel(404, "NOT_FOUND") : Answer::confirm();
  });
  const BatchOutcome batch = publish_all({"a", "b", "c", "d", "e", "f", "g"});
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::confirmed, Kind::confirmed, Kind::failed, Kind::failed, Kind::failed, Kind::failed,
                                        Kind::confirmed));
  EXPECT_EQ(batch.first_failure()->id, "c");
  EXPECT_EQ(batch.first_failure()->failure->failure_class, FailureClass::suspect);
  EXPECT_THAT(published_ids(), ElementsAre("a", "b", "g"));
  EXPECT_EQ(broker->publishes(), 7U);
}

// No more than the ceiling is ever unconfirmed, however large the batch: counted each time the broker handles a message.
TEST_F(ConnectionTest, TheCeilingHolds) {
  options.unconfirmed_max = 10;
  broker->answer_at_most(3);
  std::size_t handled = 0, unconfirmed = 0;
  broker->script([&](const Message&, std::size_t) {
    unconfirmed = std::max(unconfirmed, broker->publishes() - handled++);
    return Answer::confirm();
  });
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back("m" + std::to_string(i));
  EXPECT_TRUE(publish_all(ids).all_confirmed());
  EXPECT_EQ(unconfirmed, 10U);
  EXPECT_EQ(published_ids(), ids);
}

// Large bodies fill the window by their bytes; one that is larger than the window passes alone.
TEST_F(ConnectionTest, BytesBoundTheWindowToo) {
  std::size_t handled = 0, unconfirmed = 0;
  broker->script([&](const Message&, std::size_t) {
    unconfirmed = std::max(unconfirmed, broker->publishes() - handled++);
    return Answer::confirm();
  });
  const acemq::BasicMessageFactory<BytesCodec> factory{{.body_bytes_max = std::size_t{64} << 20, .clock = &clock}};
  std::vector<outbox::Record> records;
  for (const std::size_t mebibytes : {6U, 6U, 6U, 20U, 6U})
    records.push_back(outbox::record(factory, std::string(mebibytes << 20, 'x'), {.to = "large"}));
  EXPECT_TRUE(connection().publish_all(std::move(records)).all_confirmed());
  EXPECT_EQ(unconfirmed, 2U);
}

// Messages that are never answered do not use up the ceiling (CONTRACT 16, trap 17): with every confirm lost, later publishes
// still go out.
TEST_F(ConnectionTest, LostConfirmsDoNotUseUpTheCeiling) {
  options.unconfirmed_max = 2;
  bool lossy = true;
  broker->script([&](const Message&, std::size_t) { return lossy ? Answer::drop() : Answer::confirm(); });
  const BatchOutcome batch = publish_all({"a", "b", "c"});
  EXPECT_THAT(kinds(batch), ElementsAre(Kind::failed, Kind::failed, Kind::refused));
  EXPECT_EQ(batch.outcomes[2].failure->reason, "too many unconfirmed messages before it");
  lossy = false;
  EXPECT_TRUE(publish_all({"d", "e", "f"}).all_confirmed());
}

// A batch whose answers trickle in is given up only when none came for the confirm timeout.
TEST_F(ConnectionTest, AnswersRenewThePatienceOfABatch) {
  broker->answer_at_most(1);
  broker->script([&](const Message&, std::size_t) {
    clock.advance(options.confirm_timeout - 1s);
    return Answer::confirm();
  });
  EXPECT_TRUE(publish_all({"a", "b", "c", "d"}).all_confirmed());
}

// An empty batch asks nobody.
TEST_F(ConnectionTest, AnEmptyBatchIsFine) {
  const BatchOutcome batch = publish_all({});
  EXPECT_TRUE(batch.all_confirmed());
  batch.or_throw();
  EXPECT_EQ(broker->opened(), 0U);
}

// A record put together by hand is checked: nothing is sent, not even its valid neighbour.
TEST_F(ConnectionTest, AnInvalidRecordIsRefusedBeforeAnythingIsSent) {
  std::vector<outbox::Record> records{record("a"), record("b")};
  records[1].routing_key = std::string(256, 'k');
  EXPECT_THROW((void)connection().publish_all(std::move(records)), InvalidRecord);
  EXPECT_THROW((void)connection().publish("{", {.to = "k"}), InvalidRecord);
  EXPECT_EQ(broker->publishes(), 0U);
}

// Options out of their bounds are refused with their name.
TEST_F(ConnectionTest, OptionsHaveBounds) {
  const auto refused = [&](ConnectionOptions bad) {
    try {
      Publisher publisher{broker, std::move(bad)};
      return std::string("accepted");
    } catch (const InvalidConfiguration& error) {
      return error.field();
    }
  };
  EXPECT_EQ(refused({.confirm_timeout = 99ms}), "confirm_timeout");
  EXPECT_EQ(refused({.confirm_timeout = 2h}), "confirm_timeout");
  EXPECT_EQ(refused({.open_timeout = 0ms}), "open_timeout");
  EXPECT_EQ(refused({.unconfirmed_max = 0}), "unconfirmed_max");
  EXPECT_EQ(refused({.unconfirmed_max = 100'001}), "unconfirmed_max");
  EXPECT_EQ(refused({.confirm_timeout = 100ms, .open_timeout = 1ms, .unconfirmed_max = 1}), "accepted");
}

}  // namespace
}  // namespace acemq::test
