// What tests of the program with RabbitMQ need: a queue of their own, rows for it, and a relay.
#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include "acemq/amqp.hpp"
#include "amqp/rabbitmq_peer.hpp"
#include "app/program.hpp"

namespace acemq::app::testing {

class BrokerTest : public ProgramTest {
 protected:
  BrokerTest() { environment.push_back("ACEMQ_URL=" + amqp::test_broker_url()); }

  void SetUp() override {
    declare(queue);
    ASSERT_EQ(acemq({"init", "--wal"}).exit_code, 0);
  }
  void TearDown() override {
    for (const std::string& name : queues_) peer.remove_queue(name);
  }

  void declare(const std::string& name) {
    AmqpTransport(amqp::test_broker_url()).declare(QueueDeclaration{.name = name});
    queues_.push_back(name);
  }

  // `rows` more of them: copies of one that the program wrote.
  void fill(std::size_t rows) const {
    ASSERT_EQ(acemq({"add", "--to", queue, "--id", "row-0", "{}"}).exit_code, 0);
    query("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < " + std::to_string(rows - 1) +
          ") INSERT INTO acemq_outbox (id, exchange_name, routing_key, body, body_encoding, content_type, headers, created_at) "
          "SELECT 'row-' || n, exchange_name, routing_key, body, body_encoding, content_type, "
          "json_set(headers, '$.x-acemq-id', 'row-' || n), created_at FROM acemq_outbox, numbers");
  }
  std::multiset<std::string> all_ids() const {
    const auto ids = query("SELECT id FROM acemq_outbox");
    return {ids.begin(), ids.end()};
  }

  // `acemq relay arguments…`, running.
  std::unique_ptr<Program> relay(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), "relay");
    return std::make_unique<Program>(command(std::move(arguments)), here());
  }

  // Whether `sql` came to answer `expected` before a generous deadline. Another process writes; there is nothing to be woken by.
  bool wait_for(const std::string& sql, const std::string& expected) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (value(sql) != expected) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      ::poll(nullptr, 0, 2);
    }
    return true;
  }

  const std::string queue = "acemq-test-app-" + std::to_string(::getpid());
  amqp::RabbitMqPeer peer;

 private:
  std::vector<std::string> queues_;
};

}  // namespace acemq::app::testing
