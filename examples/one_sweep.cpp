// One sweep of a relay takes what was committed to the broker, and nothing is left waiting.
//
//   one_sweep [DATABASE]
#include <exception>
#include <iostream>
#include <memory>
#include <string>

#include <acemq/adapters/sqlite.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/sqlite_store.hpp>
#include <acemq/testing.hpp>

#include "database.hpp"

namespace {

void place_order(Database& db, const acemq::MessageFactory& shop) {
  Transaction transaction{db};
  db.run("INSERT INTO orders (cents) VALUES (1999)");
  const std::string order = std::to_string(sqlite3_last_insert_rowid(db.get()));
  acemq::outbox::add(db.get(), acemq::outbox::record(shop, R"({"order":)" + order + R"(,"cents":1999})",
                                                     {.to = "order.placed", .exchange = "shop-events"}));
  transaction.commit();
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string path = count > 1 ? arguments[1] : "shop.db";
  const acemq::MessageFactory shop{{.origin = "shop@web-1"}};
  Database db{path};
  db.run("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)");
  db.run(acemq::sqlite_schema());
  place_order(db, shop);
  place_order(db, shop);

  // The relay has a connection of its own to the same file. Here the broker is a fake; AmqpTransport takes its place.
  acemq::testing::ManualClock clock;
  const auto store = std::make_shared<acemq::SqliteStore>(path);
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  const acemq::outbox::RelayOptions options{.clock = &clock};
  acemq::outbox::Relay relay{store, broker, options};

  std::cout << "waiting: " << store->backlog(options.attempts_max)->pending << '\n';
  std::cout << "sent: " << relay.sweep() << '\n';
  for (const acemq::Message& message : broker->published())
    std::cout << "  " << message.routing_key << ' ' << message.body << '\n';
  std::cout << "waiting: " << store->backlog(options.attempts_max)->pending << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
