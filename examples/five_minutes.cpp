// An order and its message in one transaction, then a relay that takes the message to RabbitMQ.
//
//   five_minutes shop.db amqp://guest:guest@localhost/%2f
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>

#include <acemq/adapters/sqlite.hpp>
#include <acemq/amqp.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/sqlite_store.hpp>

#include "database.hpp"  // a sqlite3* that closes itself, a transaction that rolls back unless committed

int main(int count, char** arguments) try {
  const std::span words(arguments, static_cast<std::size_t>(count));
  if (words.size() != 3) throw std::invalid_argument("usage: five_minutes DATABASE URL");

  Database db{words[1]};
  db.run("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, cents INTEGER NOT NULL)");
  db.run(acemq::sqlite_schema());  // the outbox; in a service this is a migration

  // The application. It needs no broker, ever.
  const acemq::MessageFactory shop{{.origin = "shop@web-1"}};
  const auto placed = acemq::outbox::record(shop, R"({"cents":1999})", {.to = "order.placed", .exchange = "shop-events"});
  Transaction transaction{db};
  db.run("INSERT INTO orders (cents) VALUES (1999)");
  acemq::outbox::add(db.get(), placed);
  transaction.commit();

  // The relay, here or in a process of its own.
  auto broker = std::make_shared<acemq::AmqpTransport>(words[2]);
  broker->declare(acemq::ExchangeDeclaration{.name = "shop-events"});
  broker->declare(acemq::QueueDeclaration{.name = "mailer"});
  broker->bind({.queue = "mailer", .exchange = "shop-events", .routing_key = "order.*"});

  acemq::outbox::Relay relay{std::make_shared<acemq::SqliteStore>(words[1]), broker};
  std::cout << relay.sweep() << " message at the broker\n";  // a service: relay.start(), and relay.wake() after each commit
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
