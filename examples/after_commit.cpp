// Messages that go out after the commit and never after a rollback, but may be lost: in a crash between the two, or while the
// broker is away. What must not be lost belongs in the outbox.
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <acemq/after_commit.hpp>
#include <acemq/testing.hpp>

#include "database.hpp"

namespace {

void place_order(Database& db, acemq::Connection& shop, const std::string& id, bool card_is_good) {
  acemq::AfterCommit later{shop};
  Transaction transaction{db};
  db.run("INSERT INTO orders VALUES ('" + id + "')");
  later.add(acemq::outbox::record(shop.factory(), R"({"order":")" + id + R"("})", {.to = "order.placed"}));
  if (!card_is_good) throw std::runtime_error("the card was refused");  // the order goes, and so does the message
  transaction.commit();
  const acemq::BatchOutcome outcome = later.committed();
  if (!outcome.all_confirmed()) std::cout << "nobody heard of " << id << ": " << outcome.first_failure()->failure->reason << '\n';
}

}  // namespace

int main() try {
  acemq::testing::ManualClock clock;
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  acemq::Connection shop{acemq::MessageFactory{{.origin = "shop@web-1"}}, broker, {.clock = &clock}};
  Database db{":memory:"};
  db.run("CREATE TABLE orders (id TEXT PRIMARY KEY)");

  place_order(db, shop, "A-1", true);
  try {
    place_order(db, shop, "A-2", false);
  } catch (const std::runtime_error& error) {
    std::cout << "no order A-2: " << error.what() << '\n';
  }
  broker->refuse_connections("the broker is away");
  place_order(db, shop, "A-3", true);

  std::cout << "orders: " << db.number("SELECT count(*) FROM orders") << '\n'
            << "messages: " << broker->published().size() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
