#include "acemq/testing/fake_transport.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace acemq::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeTransport;
using testing::ManualClock;
using Answer = FakeTransport::Answer;
using Kind = TransportEvent::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FakeTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(channel_->open(seconds(1))); }

  // Publishes messages with these ids; tickets count from 1 over the whole test.
  void publish(const std::vector<std::string>& ids, bool mandatory = true) { publish(*channel_, ids, mandatory); }
  void publish(PublishChannel& channel, const std::vector<std::string>& ids, bool mandatory = true) {
    std::vector<Message> messages;
    for (const std::string& id : ids) {
      messages.push_back({.exchange = "shop-events",
                          .routing_key = "order." + id,
                          .message_id = id,
                          .content_type = "text/plain",
                          .headers = {},
                          .body = id,
                          .mandatory = mandatory});
    }
    std::vector<Publication> publications;
    for (const Message& message : messages) publications.push_back({++tickets_, &message});
    channel.publish(publications);
  }

  // What one poll reports, each as "kind ticket" or "kind code".
  std::vector<std::string> poll(std::chrono::nanoseconds timeout = {}) { return poll(*channel_, timeout); }
  static std::vector<std::string> poll(PublishChannel& channel, std::chrono::nanoseconds timeout = {}) {
    constexpr const char* kNames[] = {"confirmed",      "returned",        "nacked",  "refused",
                                      "channel_closed", "connection_lost", "blocked", "unblocked"};
    std::vector<TransportEvent> events;
    channel.poll(events, timeout);
    std::vector<std::string> texts;
    for (const TransportEvent& event : events) {
      const std::uint64_t number = event.ticket != 0 ? event.ticket : event.code;
      texts.push_back(std::string(kNames[static_cast<int>(event.kind)]) + " " + std::to_string(number));
    }
    return texts;
  }

  std::vector<std::string> queue() const {
    std::vector<std::string> ids;
    for (const Message& message : broker_->published()) ids.push_back(message.message_id);
    return ids;
  }
  // Answers by message id; what is not named is confirmed.
  void answer(const std::string& id, const Answer& answer) {
    broker_->script([=](const Message& message, std::size_t) { return message.message_id == id ? answer : Answer::confirm(); });
  }

  ManualClock clock_;
  std::shared_ptr<FakeTransport> broker_ = std::make_shared<FakeTransport>(clock_);
  std::unique_ptr<PublishChannel> channel_ = broker_->publish_channel();
  std::uint64_t tickets_ = 0;
};

// publish() only hands over: the broker handles messages inside poll(), in order.
TEST_F(FakeTransportTest, MessagesAreHandledInPoll) {
  publish({"a", "b"});
  EXPECT_THAT(queue(), IsEmpty());
  EXPECT_THAT(poll(), ElementsAre("confirmed 1", "confirmed 2"));
  EXPECT_THAT(queue(), ElementsAre("a", "b"));
  EXPECT_EQ(broker_->publishes(), 2u);
}

// answer_at_most() leaves the rest for the next poll.
TEST_F(FakeTransportTest, AnswersComeInSteps) {
  broker_->answer_at_most(2);
  publish({"a", "b", "c"});
  EXPECT_THAT(poll(), ElementsAre("confirmed 1", "confirmed 2"));
  EXPECT_THAT(poll(), ElementsAre("confirmed 3"));
}

// As on RabbitMQ: before the guilty message all is queued but not confirmed, it and what is behind are not queued.
TEST_F(FakeTransportTest, AChannelCloseConfirmsNoPredecessor) {
  answer("guilty", Answer::close_channel(406, "PRECONDITION_FAILED"));
  publish({"before", "guilty", "behind"});
  EXPECT_THAT(poll(), ElementsAre("channel_closed 406"));
  EXPECT_THAT(queue(), ElementsAre("before"));
  EXPECT_FALSE(channel_->is_open());

  ASSERT_FALSE(channel_->open(seconds(1)));
  EXPECT_THAT(poll(), IsEmpty()) << "nothing of the old channel arrives on the new one";
}

// What was confirmed in an earlier poll, or returned, had been answered before the close.
TEST_F(FakeTransportTest, EarlierAnswersStandWhenTheChannelCloses) {
  broker_->answer_at_most(1);
  answer("guilty", Answer::close_channel(404, "NOT_FOUND"));
  publish({"before", "guilty"});
  EXPECT_THAT(poll(), ElementsAre("confirmed 1"));
  EXPECT_THAT(poll(), ElementsAre("channel_closed 404"));

  ASSERT_FALSE(channel_->open(seconds(1)));
  broker_->answer_at_most(0);
  broker_->script([](const Message& message, std::size_t) {
    return message.message_id == "guilty" ? Answer::close_channel(404, "NOT_FOUND") : Answer::unroutable();
  });
  publish({"unroutable", "guilty"});
  EXPECT_THAT(poll(), ElementsAre("returned 3", "channel_closed 404"));
}

// A message without a queue comes back when it is mandatory, and is confirmed and dropped when not.
TEST_F(FakeTransportTest, UnroutableMessagesReachNoQueue) {
  answer("lost", Answer::unroutable());
  publish({"lost", "found"});
  publish({"lost"}, false);
  EXPECT_THAT(poll(), ElementsAre("returned 1", "confirmed 2", "confirmed 3"));
  EXPECT_THAT(queue(), ElementsAre("found"));
}

// A full queue nacks one and may take the next.
TEST_F(FakeTransportTest, SuccessorsOfANackAreAccepted) {
  answer("nacked", Answer::nack());
  publish({"nacked", "next"});
  EXPECT_THAT(poll(), ElementsAre("nacked 1", "confirmed 2"));
  EXPECT_THAT(queue(), ElementsAre("next"));
}

// refuse(): over a limit, nothing is sent. drop(): sent and queued, the confirm gets lost.
TEST_F(FakeTransportTest, RefusedIsNotSentAndDroppedIsNotAnswered) {
  broker_->script([](const Message& message, std::size_t) {
    return message.message_id == "large" ? Answer::refuse("too large") : Answer::drop();
  });
  publish({"large", "unanswered"});
  EXPECT_THAT(poll(), ElementsAre("refused 1"));
  EXPECT_THAT(queue(), ElementsAre("unanswered"));
}

// The script is told how often this message id was published before.
TEST_F(FakeTransportTest, CopiesAreCountedByMessageId) {
  broker_->script([](const Message&, std::size_t copy) { return copy == 1 ? Answer::nack() : Answer::confirm(); });
  publish({"a", "b", "a"});
  EXPECT_THAT(poll(), ElementsAre("nacked 1", "nacked 2", "confirmed 3"));
}

// While blocked messages are taken and not answered; the broker reads nothing, a check of an exchange included.
TEST_F(FakeTransportTest, ABlockedBrokerAnswersNothing) {
  broker_->block("memory alarm");
  EXPECT_TRUE(channel_->is_blocked());
  publish({"a"});
  EXPECT_THAT(poll(), ElementsAre("blocked 0"));
  EXPECT_THAT(poll(), IsEmpty());

  const auto failure = channel_->check_exchange("shop-events", seconds(1));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);

  broker_->unblock();
  EXPECT_THAT(poll(), ElementsAre("unblocked 0", "confirmed 1"));
}

// A channel that opens meanwhile is told.
TEST_F(FakeTransportTest, ANewChannelLearnsThatTheBrokerIsBlocked) {
  broker_->block("disk alarm");
  const auto other = broker_->publish_channel();
  EXPECT_FALSE(other->is_blocked());
  ASSERT_FALSE(other->open(seconds(1)));
  EXPECT_TRUE(other->is_blocked());
  EXPECT_THAT(poll(*other), ElementsAre("blocked 0"));
}

// An outage ends what is open and lasts until it is over.
TEST_F(FakeTransportTest, RefusedConnectionsAreAnOutage) {
  publish({"on the way"});
  broker_->refuse_connections("connection refused");
  EXPECT_THAT(poll(), ElementsAre("connection_lost 0"));
  EXPECT_THAT(queue(), IsEmpty());
  const auto failure = channel_->open(seconds(1));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::outage);
  EXPECT_EQ(failure->reason, "connection refused");

  broker_->refuse_connections("");
  EXPECT_FALSE(channel_->open(seconds(1)));
  EXPECT_FALSE(channel_->open(seconds(1))) << "open already";
  EXPECT_EQ(broker_->opened(), 2u);
}

// Channels share one connection, and its end.
TEST_F(FakeTransportTest, AConnectionEndsForAllItsChannels) {
  const auto other = broker_->publish_channel();
  ASSERT_FALSE(other->open(seconds(1)));
  answer("guilty", Answer::close_connection(501, "FRAME_ERROR"));
  publish({"before", "guilty"});
  publish(*other, {"elsewhere"});
  EXPECT_THAT(poll(), ElementsAre("connection_lost 501"));
  EXPECT_THAT(poll(*other), ElementsAre("connection_lost 501"));
  EXPECT_THAT(queue(), ElementsAre("before"));

  publish({"too late"});
  EXPECT_THAT(poll(), IsEmpty());
  broker_->drop_connections();
  EXPECT_THAT(poll(), IsEmpty()) << "there was no connection to lose";
}

// Asked beforehand a missing exchange harms nothing; published to it closes the channel.
TEST_F(FakeTransportTest, AMissingExchangeIsFoundWithoutHarm) {
  broker_->missing_exchange("shop-events");
  const auto failure = channel_->check_exchange("shop-events", seconds(1));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->failure_class, FailureClass::refusal);
  EXPECT_EQ(failure->code, 404);
  EXPECT_TRUE(channel_->is_open());

  publish({"a"});
  EXPECT_THAT(poll(), ElementsAre("channel_closed 404"));

  broker_->missing_exchange("shop-events", false);
  ASSERT_FALSE(channel_->open(seconds(1)));
  EXPECT_FALSE(channel_->check_exchange("shop-events", seconds(1)));
}

// Nobody sleeps: an idle poll lets the clock pass, once; with something to report, or interrupted, it does not.
TEST_F(FakeTransportTest, AnIdlePollPassesTheTime) {
  const auto passed = [&](std::chrono::nanoseconds timeout) {
    const auto before = clock_.since_boot();
    poll(timeout);
    return clock_.since_boot() - before;
  };
  EXPECT_EQ(passed(milliseconds(250)), milliseconds(250));
  EXPECT_EQ(passed(milliseconds(0)), milliseconds(0));
  channel_->interrupt();
  EXPECT_EQ(passed(milliseconds(250)), milliseconds(0));
  EXPECT_EQ(passed(milliseconds(250)), milliseconds(250)) << "an interrupt is good for one call";
  publish({"a"});
  EXPECT_EQ(passed(milliseconds(250)), milliseconds(0));
}

// A script may act on the broker that runs it.
TEST_F(FakeTransportTest, AScriptMayBreakTheConnection) {
  broker_->script([&](const Message& message, std::size_t) {
    if (message.message_id == "b") broker_->drop_connections();
    return Answer::confirm();
  });
  publish({"a", "b", "c"});
  EXPECT_THAT(poll(), ElementsAre("connection_lost 0"));
  EXPECT_THAT(queue(), ElementsAre("a"));
}

}  // namespace
}  // namespace acemq::test
