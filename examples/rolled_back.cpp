// Whatever happens after add(): when the transaction is rolled back, the message has never existed.
#include <exception>
#include <iostream>
#include <stdexcept>

#include <acemq/adapters/sqlite.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/sqlite_store.hpp>

#include "database.hpp"

namespace {

void charge_card() { throw std::runtime_error("the card was refused"); }

void place_order(Database& db, const acemq::MessageFactory& shop) {
  Transaction transaction{db};
  db.run("INSERT INTO orders VALUES ('A-1', 1999)");
  acemq::outbox::add(db.get(), acemq::outbox::record(shop, R"({"order":"A-1","cents":1999})",
                                                     {.to = "order.placed", .exchange = "shop-events"}));
  charge_card();  // throws; the transaction's destructor rolls back
  transaction.commit();
}

// Forgetting the transaction is the mistake that an outbox exists to remove, so add() refuses.
void add_without_transaction(Database& db, const acemq::MessageFactory& shop) {
  acemq::outbox::add(db.get(), acemq::outbox::record(shop, R"({"order":"A-2"})", {.to = "order.placed"}));
}

}  // namespace

int main() try {
  const acemq::MessageFactory shop{{.origin = "shop@web-1"}};
  Database db{":memory:"};
  db.run("CREATE TABLE orders (id TEXT PRIMARY KEY, cents INTEGER NOT NULL)");
  db.run(acemq::sqlite_schema());

  try {
    place_order(db, shop);
  } catch (const std::runtime_error& error) {
    std::cout << "no order: " << error.what() << '\n';
  }
  try {
    add_without_transaction(db, shop);
  } catch (const acemq::NotInTransaction&) {
    std::cout << "no message: no transaction is open\n";
  }

  std::cout << "orders: " << db.number("SELECT count(*) FROM orders") << '\n'
            << "outbox: " << db.number("SELECT count(*) FROM acemq_outbox") << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
