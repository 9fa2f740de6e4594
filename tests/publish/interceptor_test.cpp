#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "publish/publish_fixture.hpp"

namespace acemq::test {
namespace {

using Kind = PublishOutcome::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Notes = std::vector<std::string>;

// Writes down its name and what it was told.
class Noting : public Interceptor {
 public:
  Noting(std::string name, int order, Notes& notes) : name_(std::move(name)), order_(order), notes_(notes) {}
  int order() const override { return order_; }
  void before_publish(Message& message) override { notes_.push_back(name_ + " before " + message.message_id); }
  void after_confirm(const Message& message) override { notes_.push_back(name_ + " confirmed " + message.message_id); }
  void on_error(const Message& message, const PublishOutcome& outcome) override {
    notes_.push_back(name_ + " " + std::string(to_string(outcome.kind)) + " " + message.message_id);
  }

 private:
  std::string name_;
  int order_;
  Notes& notes_;
};

class Changing : public Interceptor {
 public:
  explicit Changing(std::function<void(Message&)> change) : change_(std::move(change)) {}
  void before_publish(Message& message) override { change_(message); }

 private:
  std::function<void(Message&)> change_;
};

class Throwing : public Interceptor {
 public:
  void after_confirm(const Message&) override { throw std::runtime_error("after"); }
  void on_error(const Message&, const PublishOutcome&) override { throw 42; }
};

class InterceptorTest : public PublishTest {
 protected:
  void intercept(std::shared_ptr<Interceptor> interceptor) { options.interceptors.push_back(std::move(interceptor)); }
  void change(std::function<void(Message&)> change) { intercept(std::make_shared<Changing>(std::move(change))); }
  Notes notes;
};

// Lower order first, equal orders as given, for each of the three.
TEST_F(InterceptorTest, LowerOrderRunsFirst) {
  intercept(std::make_shared<Noting>("late", 5, notes));
  intercept(std::make_shared<Noting>("early", -1, notes));
  intercept(std::make_shared<Noting>("late too", 5, notes));
  EXPECT_TRUE(publish("a").confirmed());
  EXPECT_THAT(notes, ElementsAre("early before a", "late before a", "late too before a", "early confirmed a", "late confirmed a",
                                 "late too confirmed a"));
}

// Every outcome but confirmed is an error, whether something was sent or not.
TEST_F(InterceptorTest, ErrorsAreTold) {
  intercept(std::make_shared<Noting>("it", 0, notes));
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "a" ? Answer::unroutable() : Answer::nack(); });
  EXPECT_FALSE(publish_all({"a", "b"}).all_confirmed());
  broker->refuse_connections("away");
  EXPECT_EQ(publish("c").kind, Kind::refused);
  EXPECT_THAT(notes, ElementsAre("it before a", "it before b", "it unroutable a", "it failed b", "it before c", "it refused c"));
}

// Exchange, routing key, headers, body and mandatory may change; that is what goes out.
TEST_F(InterceptorTest, MayChangeTheMessage) {
  change([](Message& message) {
    message.exchange = "audited-events";
    message.routing_key = "page.audited";
    message.headers.set("audited", true);
    message.body = R"({"audited":true})";
    message.mandatory = false;
  });
  EXPECT_TRUE(publish("a").confirmed());
  ASSERT_EQ(broker->published().size(), 1U);
  const Message message = broker->published().front();
  EXPECT_EQ(message.exchange, "audited-events");
  EXPECT_EQ(message.routing_key, "page.audited");
  EXPECT_EQ(*message.headers.find("audited"), HeaderValue(true));
  EXPECT_EQ(message.body, R"({"audited":true})");
  EXPECT_FALSE(message.mandatory);
}

// What an interceptor makes of a message is checked as a record is: it cannot break the connection for others.
TEST_F(InterceptorTest, ChangesAreChecked) {
  change([](Message& message) { message.routing_key = std::string(256, 'k'); });
  EXPECT_THROW((void)publish("a"), InvalidRecord);
  options.interceptors.clear();
  change([](Message& message) { message.message_id = "another"; });
  new_connection();
  EXPECT_THROW((void)publish("a"), InvalidRecord);
  EXPECT_EQ(broker->publishes(), 0U);
}

// An exception from before_publish() stops the publish and reaches the caller; of a batch nothing is sent, and nobody is told of
// an outcome that there is not.
TEST_F(InterceptorTest, AnExceptionStopsThePublish) {
  intercept(std::make_shared<Noting>("it", -1, notes));
  change([](Message& message) {
    if (message.message_id == "b") throw std::domain_error("not for us");
  });
  EXPECT_THROW((void)publish_all({"a", "b"}), std::domain_error);
  EXPECT_THAT(notes, ElementsAre("it before a", "it before b"));
  EXPECT_EQ(broker->publishes(), 0U);
}

// What the other two throw is contained: the outcome stands and the next interceptor is told.
TEST_F(InterceptorTest, OnlookersCannotDisturb) {
  intercept(std::make_shared<Throwing>());
  intercept(std::make_shared<Noting>("next", 0, notes));
  broker->script(
      [](const Message& message, std::size_t) { return message.message_id == "a" ? Answer::confirm() : Answer::nack(); });
  EXPECT_THAT(kinds(publish_all({"a", "b"})), ElementsAre(Kind::confirmed, Kind::failed));
  EXPECT_THAT(notes, ElementsAre("next before a", "next before b", "next confirmed a", "next failed b"));
}

}  // namespace
}  // namespace acemq::test
