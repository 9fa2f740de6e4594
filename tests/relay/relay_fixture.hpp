// What most tests of the relay need: a store, a broker, a clock, and short names for looking at them.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acemq/outbox/record.hpp"
#include "acemq/outbox/relay.hpp"
#include "acemq/testing.hpp"

namespace acemq::testing {

using Answer = FakeTransport::Answer;

class RelayTest : public ::testing::Test {
 protected:
  ManualClock clock;
  SeededRandom random{1};
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>(clock);
  std::shared_ptr<FakeTransport> broker = std::make_shared<FakeTransport>(clock);
  outbox::RelayOptions options = {.clock = &clock, .random = &random};

  // Made on first use, from `options` as they are then.
  outbox::Relay& relay() {
    if (!relay_) relay_ = std::make_unique<outbox::Relay>(store, broker, options);
    return *relay_;
  }
  void new_relay() { relay_.reset(); }

  void add(const std::string& id, const std::string& exchange = "orders", const std::string& routing_key = "placed") {
    store->add(outbox::record(factory_, R"({"id":")" + id + R"("})", {.to = routing_key, .exchange = exchange, .id = id}));
  }
  void add_body(const std::string& id, const std::string& text) {
    store->add(outbox::record(factory_, "\"" + text + "\"", {.to = "placed", .exchange = "orders", .id = id}));
  }
  void add_many(std::size_t count, const std::string& prefix, const std::string& exchange = "orders",
                const std::string& routing_key = "placed") {
    for (std::size_t i = 0; i < count; ++i) add(prefix + std::to_string(1000 + i), exchange, routing_key);
  }
  // Sweeps, and swallows the failure it ends with; returns its text.
  std::string sweep_failure() {
    try {
      relay().sweep();
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  // Sweeps until nothing is left or the rounds are used up, letting `pause` pass in between.
  void sweep_all(std::size_t rounds, std::chrono::nanoseconds pause = std::chrono::seconds(2)) {
    for (std::size_t i = 0; i < rounds && pending() > 0; ++i) {
      sweep_failure();
      clock.advance(pause);
    }
  }

  std::size_t pending() const { return static_cast<std::size_t>(store->backlog(options.attempts_max)->pending); }
  MemoryStore::StoredRow row(const std::string& id) const {
    for (auto& each : store->rows())
      if (each.row.id == id) return each;
    ADD_FAILURE() << "no row " << id;
    return {};
  }
  std::vector<std::string> published_ids() const {
    std::vector<std::string> ids;
    for (const Message& message : broker->published()) ids.push_back(message.message_id);
    return ids;
  }
  std::size_t copies(const std::string& id) const {
    const auto ids = published_ids();
    return static_cast<std::size_t>(std::count(ids.begin(), ids.end(), id));
  }

 private:
  MessageFactory factory_{{.origin = "test@host", .clock = &clock, .random = &random}};
  std::unique_ptr<outbox::Relay> relay_;
};

}  // namespace acemq::testing
