// A relay over a table of your own. own_store.hpp is the store; own_store_test.cpp runs the conformance suite on it.
#include "own_store.hpp"

#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/testing.hpp>

int main() try {
  acemq::testing::ManualClock clock;
  const auto store = std::make_shared<VectorStore>(clock);
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  const acemq::MessageFactory shop{{.origin = "shop@web-1", .clock = &clock}};
  for (const std::string id : {"A-1", "A-2", "A-3"}) {
    store->add(
        acemq::outbox::record(shop, R"({"order":")" + id + R"("})", {.to = "order.placed", .exchange = "shop-events", .id = id}));
  }

  acemq::outbox::Relay relay{store, broker, {.clock = &clock}};
  std::cout << "sent: " << relay.sweep() << '\n';
  for (const acemq::Message& message : broker->published()) std::cout << "  " << message.body << '\n';
  std::cout << "A-3 is " << store->state("A-3") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
