// A message that deserves no outbox: published straight to the broker, and the caller learns what became of it.
#include <exception>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include <acemq/connection.hpp>
#include <acemq/testing.hpp>

namespace {

void print(const acemq::PublishOutcome& outcome) {
  std::cout << outcome.id << ": " << to_string(outcome.kind);
  if (outcome.failure) std::cout << ", " << outcome.failure->reason;
  if (outcome.answers().may_have_happened) std::cout << " (it may have arrived)";
  std::cout << '\n';
}

// Looks at every direct publish of the connection that it is given to.
struct Audit final : acemq::Interceptor {
  void before_publish(acemq::Message& message) override { message.headers.set("audited", true); }
  void on_error(const acemq::Message& message, const acemq::PublishOutcome& outcome) override {
    std::cerr << message.message_id << ": " << outcome.failure->reason << '\n';
  }
};

// Written all, then awaited all; the outcomes stand in the order given.
void publish_batch(acemq::Connection& shop) {
  std::vector<acemq::outbox::Record> records;
  for (const char* id : {"view-3", "view-4"})
    records.push_back(acemq::outbox::record(shop.factory(), R"({"page":"/"})", {.to = "page.seen", .id = id}));
  const acemq::BatchOutcome batch = shop.publish_all(std::move(records));
  std::cout << batch.confirmed() << " of " << batch.outcomes.size() << " confirmed\n";
  batch.or_throw();
}

}  // namespace

int main() try {
  // Here the broker is a fake; AmqpTransport takes its place. A relay may use the same one.
  acemq::testing::ManualClock clock;
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  acemq::Connection shop{
      acemq::MessageFactory{{.origin = "shop@web-1"}}, broker, {.interceptors = {std::make_shared<Audit>()}, .clock = &clock}};

  print(shop.publish(R"({"page":"/cart"})", {.to = "page.seen", .id = "view-1"}));
  publish_batch(shop);

  broker->refuse_connections("connection refused by mq.example:5672");
  print(shop.publish(R"({"page":"/cart"})", {.to = "page.seen", .id = "view-5"}));

  // Sent, and the confirm is lost: nobody knows. Nothing is sent again by itself; try again with the same id.
  broker->refuse_connections("");
  broker->script([](const acemq::Message&, std::size_t copy) {
    return copy == 1 ? acemq::testing::FakeTransport::Answer::drop() : acemq::testing::FakeTransport::Answer::confirm();
  });
  print(shop.publish(R"({"page":"/pay"})", {.to = "page.seen", .id = "view-6"}));
  print(shop.publish(R"({"page":"/pay"})", {.to = "page.seen", .id = "view-6"}));
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
