// A symbol of every component is linked; a relay moves one record without a broker.
#include <cstdlib>
#include <memory>
#include <string>

#include <acemq/amqp.hpp>
#include <acemq/connection.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/sqlite_store.hpp>
#include <acemq/testing.hpp>

int main() {
  acemq::testing::ManualClock clock;
  const auto store = std::make_shared<acemq::testing::MemoryStore>(clock);
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  const acemq::MessageFactory shop{{.origin = "shop@web-1", .clock = &clock}};
  store->add(acemq::outbox::record(shop, R"({"order":"A-1"})", {.to = "order.placed", .exchange = "shop-events"}));

  acemq::outbox::Relay relay{store, broker, {.clock = &clock}};
  const bool relayed = relay.sweep() == 1 && broker->published().size() == 1;

  acemq::Connection direct{shop, broker, {.clock = &clock}};
  const bool published = direct.publish("{}", {.to = "page.seen", .exchange = "shop-events"}).confirmed();

  const acemq::AmqpTransport rabbit{"amqp://guest:secret@127.0.0.1:1/%2f"};
  const bool keeps_secrets = rabbit.description().find("secret") == std::string::npos;
  return relayed && published && keeps_secrets && !acemq::sqlite_schema().empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
