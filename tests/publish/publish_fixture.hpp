// What most tests of direct publishing need: a broker, a clock, a connection, and short names for looking at them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acemq/connection.hpp"
#include "acemq/testing.hpp"

namespace acemq::test {

using Answer = testing::FakeTransport::Answer;

inline std::vector<PublishOutcome::Kind> kinds(const BatchOutcome& batch) {
  std::vector<PublishOutcome::Kind> all;
  for (const PublishOutcome& outcome : batch.outcomes) all.push_back(outcome.kind);
  return all;
}

class PublishTest : public ::testing::Test {
 protected:
  testing::ManualClock clock;
  std::shared_ptr<testing::FakeTransport> broker = std::make_shared<testing::FakeTransport>(clock);
  ConnectionOptions options = {.clock = &clock};

  // Made on first use, from `options` as they are then.
  Connection& connection() {
    if (!connection_) connection_ = std::make_unique<Connection>(factory_, broker, options);
    return *connection_;
  }
  void new_connection() { connection_.reset(); }

  outbox::Record record(const std::string& id) const {
    return outbox::record(factory_, "{}", {.to = "page.seen", .exchange = "shop-events", .id = id});
  }
  PublishOutcome publish(const std::string& id) { return connection().publish(record(id)); }
  BatchOutcome publish_all(const std::vector<std::string>& ids) {
    std::vector<outbox::Record> records;
    for (const std::string& id : ids) records.push_back(record(id));
    return connection().publish_all(std::move(records));
  }
  std::vector<std::string> published_ids() const {
    std::vector<std::string> ids;
    for (const Message& message : broker->published()) ids.push_back(message.message_id);
    return ids;
  }

 private:
  MessageFactory factory_{{.origin = "shop@web-1", .clock = &clock}};
  std::unique_ptr<Connection> connection_;
};

}  // namespace acemq::test

namespace acemq {
inline void PrintTo(PublishOutcome::Kind kind, std::ostream* out) { *out << to_string(kind); }
}  // namespace acemq
