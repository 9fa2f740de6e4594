#include "amqp/session/confirms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "amqp/script.hpp"

namespace acemq::amqp {
namespace {

using script::show;
using testing::ElementsAre;
using testing::IsEmpty;

class ConfirmsTest : public testing::Test {
 protected:
  void publish(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t ticket = first; ticket <= last; ++ticket) confirms_.published(ticket, "m" + std::to_string(ticket));
  }

  std::vector<std::string> settled() { return show(std::exchange(events_, {})); }

  Confirms confirms_{1};
  std::vector<SessionEvent> events_;
};

// Confirms may come in any order; the tickets follow them.
TEST_F(ConfirmsTest, SettleOutOfOrder) {
  publish(1, 4);
  EXPECT_TRUE(confirms_.acked(3, false, events_));
  EXPECT_TRUE(confirms_.nacked(1, false, events_));
  EXPECT_TRUE(confirms_.acked(4, true, events_));
  EXPECT_THAT(settled(), ElementsAre("confirmed on 1 #3", "nacked on 1 #1", "confirmed on 1 #2", "confirmed on 1 #4"));
}

// Tag zero with `multiple` means everything so far; without it, nothing.
TEST_F(ConfirmsTest, TagZeroMeansEverything) {
  publish(1, 3);
  EXPECT_FALSE(confirms_.acked(0, false, events_));
  EXPECT_TRUE(confirms_.nacked(0, true, events_));
  EXPECT_THAT(settled(), ElementsAre("nacked on 1 #1", "nacked on 1 #2", "nacked on 1 #3"));
  EXPECT_FALSE(confirms_.acked(0, true, events_));
}

// A tag that is unknown or settled already changes nothing, alone or as the end of a range.
TEST_F(ConfirmsTest, RepeatedAndUnknownTagsAreIgnored) {
  publish(1, 3);
  EXPECT_TRUE(confirms_.acked(1, false, events_));
  EXPECT_TRUE(confirms_.acked(3, false, events_));
  settled();
  for (const std::uint64_t tag : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}, UINT64_MAX}) {
    EXPECT_FALSE(confirms_.acked(tag, false, events_)) << tag;
    EXPECT_FALSE(confirms_.nacked(tag, false, events_)) << tag;
  }
  EXPECT_FALSE(confirms_.acked(1, true, events_));
  EXPECT_FALSE(confirms_.acked(4, true, events_));
  EXPECT_FALSE(confirms_.acked(UINT64_MAX, true, events_));
  EXPECT_THAT(settled(), IsEmpty());
  EXPECT_TRUE(confirms_.acked(3, true, events_));
  EXPECT_THAT(settled(), ElementsAre("confirmed on 1 #2"));
}

// 100,000 messages, a cumulative confirm at every hundredth and now and then a repeated one: each is completed once.
TEST_F(ConfirmsTest, B14_CumulativeConfirmsCompleteEachMessageOnce) {
  constexpr std::uint64_t kMessages = 100'000;
  std::uint64_t repeated = 0;
  for (std::uint64_t tag = 1; tag <= kMessages; ++tag) {
    publish(tag, tag);
    if (tag % 100 == 0) {
      EXPECT_TRUE(confirms_.acked(tag, true, events_));
    }
    if (tag % 1000 == 0 && !confirms_.acked(tag - 500, true, events_)) ++repeated;
  }
  EXPECT_EQ(repeated, kMessages / 1000);
  ASSERT_EQ(events_.size(), kMessages);
  for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_EQ(events_[i].ticket, i + 1);
}

// A returned message is reported when its ack arrives, with the reason of the return; its neighbours are not touched.
TEST_F(ConfirmsTest, AReturnWaitsForItsAck) {
  publish(1, 3);
  EXPECT_TRUE(confirms_.returned("m2", 312, "NO_ROUTE"));
  EXPECT_THAT(events_, IsEmpty());
  confirms_.acked(3, true, events_);
  EXPECT_THAT(settled(), ElementsAre("confirmed on 1 #1", "returned on 1 #2 312: NO_ROUTE", "confirmed on 1 #3"));
}

// Returned and then nacked is nacked: no queue has it, and the broker says that it may be tried again.
TEST_F(ConfirmsTest, ReturnedAndNackedIsNacked) {
  publish(1, 1);
  confirms_.returned("m1", 312, "NO_ROUTE");
  confirms_.nacked(1, false, events_);
  EXPECT_THAT(settled(), ElementsAre("nacked on 1 #1"));
}

// Of several messages with one id (a resend, or none given) the earliest that was not returned yet is meant.
TEST_F(ConfirmsTest, ReturnsOfEqualIdsAreMatchedInOrder) {
  for (std::uint64_t ticket = 1; ticket <= 5; ++ticket) confirms_.published(ticket, "");
  confirms_.acked(1, false, events_);
  confirms_.acked(3, false, events_);
  settled();
  EXPECT_TRUE(confirms_.returned("", 312, "first"));
  EXPECT_TRUE(confirms_.returned("", 312, "second"));
  confirms_.acked(4, true, events_);
  EXPECT_THAT(settled(), ElementsAre("returned on 1 #2 312: first", "returned on 1 #4 312: second"));
  EXPECT_TRUE(confirms_.returned("", 312, "third"));
  EXPECT_FALSE(confirms_.returned("", 312, "fourth"));
}

// A return of a message that is not open, or was never sent, matches nothing.
TEST_F(ConfirmsTest, UnknownReturnsAreIgnored) {
  publish(1, 2);
  confirms_.acked(1, false, events_);
  EXPECT_FALSE(confirms_.returned("m1", 312, "NO_ROUTE"));
  EXPECT_FALSE(confirms_.returned("other", 312, "NO_ROUTE"));
  confirms_.acked(2, false, events_);
  EXPECT_THAT(settled(), ElementsAre("confirmed on 1 #1", "confirmed on 1 #2"));
}

// The same in the slowest and most obvious way: every list is searched from its start.
class Model {
 public:
  void published(std::uint64_t ticket, std::string id) { messages_.push_back({ticket, std::move(id)}); }

  bool returned(const std::string& id, std::uint16_t code) {
    for (Sent& sent : messages_) {
      if (!sent.is_open || sent.return_code != 0 || sent.id != id) continue;
      sent.return_code = code;
      return true;
    }
    return false;
  }

  bool settle(std::uint64_t tag, bool multiple, bool ack, std::vector<std::string>& events) {
    if (tag > messages_.size()) return false;
    bool matched = false;
    for (std::uint64_t each = 1; each <= messages_.size(); ++each) {
      Sent& sent = messages_[each - 1];
      const bool is_meant = multiple ? tag == 0 || each <= tag : each == tag;
      if (!is_meant || !sent.is_open) continue;
      sent.is_open = false;
      matched = true;
      SessionEvent event{
          .kind = ack ? SessionEvent::Kind::confirmed : SessionEvent::Kind::nacked, .channel = 1, .ticket = sent.ticket};
      if (ack && sent.return_code != 0) {
        event.kind = SessionEvent::Kind::returned;
        event.code = sent.return_code;
      }
      events.push_back(show(event));
    }
    return matched;
  }

 private:
  struct Sent {
    std::uint64_t ticket;
    std::string id;
    bool is_open = true;
    std::uint16_t return_code = 0;
  };
  std::vector<Sent> messages_;
};

// Any sequence of publishes with few ids, returns, and confirms good and bad settles what the model settles.
RC_GTEST_PROP(Confirms, BehaveAsTheModel, ()) {
  Confirms confirms(1);
  Model model;
  std::vector<SessionEvent> events;
  std::vector<std::string> expected;
  std::uint64_t sent = 0;
  const int steps = *rc::gen::inRange(0, 200);
  for (int i = 0; i < steps; ++i) {
    const std::string id(1, *rc::gen::inRange('a', 'e'));
    const int action = *rc::gen::inRange(0, 10);
    if (action < 5) {
      ++sent;
      confirms.published(1000 + sent, id);
      model.published(1000 + sent, id);
    } else if (action < 7) {
      const auto code = static_cast<std::uint16_t>(300 + i);
      RC_ASSERT(confirms.returned(id, code, "") == model.returned(id, code));
    } else {
      const std::uint64_t tag = *rc::gen::inRange<std::uint64_t>(0, sent + 2);
      const bool multiple = *rc::gen::weightedElement<bool>({{1, true}, {3, false}});
      const bool ack = *rc::gen::weightedElement<bool>({{3, true}, {1, false}});
      const bool matched = ack ? confirms.acked(tag, multiple, events) : confirms.nacked(tag, multiple, events);
      RC_ASSERT(matched == model.settle(tag, multiple, ack, expected));
    }
  }
  RC_ASSERT(show(events) == expected);
}

}  // namespace
}  // namespace acemq::amqp
