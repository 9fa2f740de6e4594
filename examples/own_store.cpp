// A relay over a table of your own: a Store needs claim() and mark_published(), no more. Here the table is a vector.
#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <acemq/outbox/insert.hpp>
#include <acemq/outbox/record.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/testing.hpp>

namespace {

namespace outbox = acemq::outbox;

class VectorStore final : public outbox::Store {
 public:
  explicit VectorStore(const acemq::Clock& clock) : clock_(clock) {}

  // The writing side. A database would be handed insert_statement(); this "table" takes the columns from its parameters.
  void add(const outbox::Record& record) {
    const auto columns = outbox::insert_statement(record).parameters;
    entries_.push_back({.row = {.id = columns[0],
                                .exchange = columns[1],
                                .routing_key = columns[2],
                                .body = columns[3],
                                .body_encoding = columns[4],
                                .content_type = columns[5],
                                .headers = columns[6],
                                .created_at = record.created_at}});
  }

  // Rows in the order of created_at, which is the order in which they were added. A row that was claimed is out of reach until
  // its lease ends: that is what lets a second relay work beside this one, and a dead relay's rows come back.
  std::vector<outbox::Row> claim(const outbox::Claim& claim) override {
    std::vector<outbox::Row> rows;
    std::size_t bytes = 0;
    for (Entry& entry : entries_) {
      if (entry.published || entry.leased_until > clock_.now()) continue;
      bytes += entry.row.body.size() + entry.row.headers.size();
      if (rows.size() == claim.rows_max || (bytes > claim.bytes_max && !rows.empty())) break;
      entry.leased_until = clock_.now() + claim.lease;
      rows.push_back(entry.row);
    }
    return rows;
  }

  // Only ids: marking is not a matter of leases. The messages are at the broker, whoever holds the rows.
  void mark_published(std::span<const std::string> ids) override {
    for (Entry& entry : entries_) {
      if (std::find(ids.begin(), ids.end(), entry.row.id) != ids.end()) entry.published = true;
    }
  }

  auto waiting() const {
    return std::count_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return !entry.published; });
  }

 private:
  struct Entry {
    outbox::Row row = {};
    bool published = false;
    acemq::Timestamp leased_until = {};
  };

  const acemq::Clock& clock_;
  std::vector<Entry> entries_;
};

}  // namespace

int main() try {
  acemq::testing::ManualClock clock;
  const auto store = std::make_shared<VectorStore>(clock);
  const auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
  const acemq::MessageFactory shop{{.origin = "shop@web-1", .clock = &clock}};
  for (const std::string id : {"A-1", "A-2", "A-3"}) {
    store->add(outbox::record(shop, R"({"order":")" + id + R"("})", {.to = "order.placed", .exchange = "shop-events"}));
  }

  outbox::Relay relay{store, broker, {.clock = &clock}};
  std::cout << "sent: " << relay.sweep() << '\n';
  for (const acemq::Message& message : broker->published()) std::cout << "  " << message.body << '\n';
  std::cout << "waiting: " << store->waiting() << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
