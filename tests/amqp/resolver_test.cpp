#include "amqp/transport/resolver.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace acemq::amqp {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

// A system resolver that answers when it is told to.
struct SlowResolver {
  std::promise<Resolution> promise;
  std::shared_future<Resolution> answer = promise.get_future().share();
  int questions = 0;

  LookUp look_up() {
    return [this, answer = answer](const std::string&, std::uint16_t, bool numeric) {
      if (numeric) return Resolution{.addresses = {}, .failure = "not a number"};
      ++questions;
      return answer.get();
    };
  }
};

// An address is resolved without asking anybody, so a raised cancel does not matter.
TEST(Resolver, TakesAddressesLiterally) {
  Wakeup cancel;
  cancel.raise();
  EXPECT_EQ(Resolver("127.0.0.1", 5672).resolve(deadline_after(milliseconds(0)), cancel).addresses.size(), 1U);
  EXPECT_EQ(Resolver("::1", 5672).resolve(deadline_after(milliseconds(0)), cancel).addresses.size(), 1U);
}

// A name that does not exist (RFC 6761 reserves .invalid) fails with the system's words.
TEST(Resolver, ReportsUnknownNames) {
  const Wakeup cancel;
  const Resolution resolution = Resolver("no-such-host.invalid", 5672).resolve(deadline_after(minutes(1)), cancel);
  EXPECT_TRUE(resolution.addresses.empty());
  EXPECT_FALSE(resolution.failure.empty());
}

// A resolver that hangs is left at the deadline; however often it is asked again, there is one question under way, and the answer
// counts for whoever still waits.
TEST(Resolver, HangingLookUpCostsOneThreadAndEndsAtTheDeadline) {
  SlowResolver slow;
  const Wakeup cancel;
  Resolver resolver("mq.example", 5672, slow.look_up());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(resolver.resolve(deadline_after(milliseconds(1)), cancel).failure, "no answer in time");
  slow.promise.set_value({.addresses = {SocketAddress{}}});
  EXPECT_EQ(resolver.resolve(deadline_after(minutes(1)), cancel).addresses.size(), 1U);
  EXPECT_EQ(slow.questions, 1);
}

// Cancelling ends the wait at once, although the deadline is far.
TEST(Resolver, IsCancelled) {
  SlowResolver slow;
  Wakeup cancel;
  cancel.raise();
  Resolver resolver("mq.example", 5672, slow.look_up());
  EXPECT_EQ(resolver.resolve(deadline_after(minutes(10)), cancel).failure, "cancelled");
  slow.promise.set_value({});
  resolver.resolve(deadline_after(minutes(1)), Wakeup());
}

// An answer that comes after the resolver is gone is dropped: the look-up owns all it touches (sanitizers watch).
TEST(Resolver, LateAnswerIsDropped) {
  std::promise<Resolution> promise;
  auto finished = std::make_shared<std::promise<void>>();
  const Wakeup cancel;
  {
    Resolver resolver("mq.example", 5672,
                      [answer = promise.get_future().share(), finished](const std::string&, std::uint16_t, bool numeric) {
                        if (numeric) return Resolution{};
                        Resolution resolution = answer.get();
                        finished->set_value();
                        return resolution;
                      });
    EXPECT_TRUE(resolver.resolve(deadline_after(milliseconds(1)), cancel).addresses.empty());
  }
  promise.set_value({.addresses = {SocketAddress{}}});
  finished->get_future().wait();
}

// A look-up that throws is a failure, not the end of the process.
TEST(Resolver, ContainsExceptions) {
  const Wakeup cancel;
  Resolver resolver("mq.example", 5672, [](const std::string&, std::uint16_t, bool numeric) -> Resolution {
    if (numeric) return {};
    throw std::runtime_error("no memory");
  });
  EXPECT_EQ(resolver.resolve(deadline_after(minutes(1)), cancel).failure, "no memory");
}

}  // namespace
}  // namespace acemq::amqp
