// An order, and the event that tells of it, in one SQLite transaction: both are committed, or neither.
#include <exception>
#include <iostream>

#include <acemq/adapters/sqlite.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/sqlite_store.hpp>
#include <acemq/testing.hpp>

#include "database.hpp"

int main() try {
  // The clock and the ids are fixed so that this program prints the same every time. A service leaves both out.
  acemq::testing::ManualClock clock;
  acemq::testing::SeededRandom random{1};
  const acemq::MessageFactory shop{{.origin = "shop@web-1", .clock = &clock, .random = &random}};

  Database db{":memory:"};
  db.run("CREATE TABLE orders (id TEXT PRIMARY KEY, cents INTEGER NOT NULL)");
  db.run(acemq::sqlite_schema());

  const auto placed = acemq::outbox::record(
      shop, R"({"order":"A-1","cents":1999})",
      {.to = "order.placed", .exchange = "shop-events", .type = "order.placed.v2", .headers = {{"tenant", "acme"}}});

  Transaction transaction{db};
  db.run("INSERT INTO orders VALUES ('A-1', 1999)");
  acemq::outbox::add(db.get(), placed);
  transaction.commit();

  std::cout << "orders: " << db.number("SELECT count(*) FROM orders") << '\n'
            << "outbox: " << db.number("SELECT count(*) FROM acemq_outbox WHERE published_at IS NULL") << '\n'
            << db.text("SELECT routing_key FROM acemq_outbox") << '\n'
            << db.text("SELECT body FROM acemq_outbox") << '\n'
            << db.text("SELECT headers FROM acemq_outbox") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
