// The shop of `make demo`. It knows its database and nothing of any broker: each order is written with its message in one
// transaction, and every twentieth customer has second thoughts, which rolls both back.
//
//   shop DATABASE FIRST LAST   places the orders with these numbers; the outbox is there already (acemq init)
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>

#include <acemq/adapters/sqlite.hpp>
#include <acemq/outbox/record.hpp>

#include "../database.hpp"

namespace {

class SecondThoughts : public std::runtime_error {
 public:
  SecondThoughts() : std::runtime_error("the customer has second thoughts") {}
};

void place_order(Database& db, const acemq::MessageFactory& shop, int number) {
  const std::string order = std::to_string(number), cents = std::to_string(1000 + 10 * (number % 90));
  Transaction transaction{db};
  db.run("INSERT INTO orders VALUES (" + order + ", " + cents + ")");
  acemq::outbox::add(db.get(), acemq::outbox::record(shop, R"({"order":)" + order + R"(,"cents":)" + cents + "}",
                                                     {.to = "order.placed", .exchange = "shop-events"}));
  if (number % 20 == 0) throw SecondThoughts();
  transaction.commit();
}

}  // namespace

int main(int count, char** arguments) try {
  const std::span words(arguments, static_cast<std::size_t>(count));
  if (words.size() != 4) throw std::invalid_argument("usage: shop DATABASE FIRST LAST");
  Database db{words[1]};
  db.run("CREATE TABLE IF NOT EXISTS orders (number INTEGER PRIMARY KEY, cents INTEGER NOT NULL)");

  const acemq::MessageFactory shop{{.origin = "shop@demo"}};
  int committed = 0, rolled_back = 0;
  for (int number = std::stoi(words[2]); number <= std::stoi(words[3]); ++number) {
    try {
      place_order(db, shop, number);
      ++committed;
    } catch (const SecondThoughts&) {
      ++rolled_back;
    }
  }
  std::cout << committed << " committed, " << rolled_back << " rolled back\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
