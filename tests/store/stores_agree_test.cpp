#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acemq/sqlite_store.hpp"
#include "acemq/testing/manual_clock.hpp"
#include "acemq/testing/memory_store.hpp"
#include "base/timestamp.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using outbox::Claim;
using outbox::Lease;
using outbox::Row;
using outbox::RowFailure;
using outbox::Store;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;
using testing::ManualClock;
using testing::MemoryStore;
using testing::SeededRandom;

constexpr std::int32_t kAttemptsMax = 3;

// What a call returned, and what the table holds after it, as text.
using Answer = std::function<std::string(Store&)>;

std::string answer(const std::vector<Row>& rows) {
  std::ostringstream text;
  for (const Row& row : rows) {
    text << row.id << ' ' << row.exchange << ' ' << row.routing_key << ' ' << row.body << ' ' << row.headers << ' '
         << base::format_iso(row.created_at) << ' ' << row.attempts << '\n';
  }
  return text.str();
}

std::string answer(std::optional<std::size_t> changed) { return std::to_string(changed.value()); }

std::string table_of(const MemoryStore& store) {
  const auto time = [](std::optional<Timestamp> at) { return at ? base::format_iso(*at) : "NULL"; };
  const auto text = [](const std::string& value) { return value.empty() ? "NULL" : value; };
  std::string table;
  for (const MemoryStore::StoredRow& stored : store.rows()) {
    for (const std::string& cell : {stored.row.id, std::to_string(stored.row.attempts), text(stored.last_error),
                                    text(stored.locked_by), time(stored.locked_until), time(stored.published_at)}) {
      table += cell + ' ';
    }
    table += '\n';
  }
  return table;
}

std::string table_of(const Database& database) {
  std::string table;
  int column = 0;
  for (const std::string& cell : database.values("SELECT id, attempts, last_error, locked_by, locked_until, published_at "
                                                 "FROM acemq_outbox ORDER BY created_at, id")) {
    table += cell + (++column % 6 == 0 ? " \n" : " ");
  }
  return table;
}

// One table in memory and one in SQLite, and a sequence of calls that both get.
class TwoStores {
 public:
  explicit TwoStores(std::uint64_t seed) : random_(seed), memory_(clock_) {
    database_.run(sqlite_schema());
    // Two relays on one file: what one of them remembers must not matter.
    for (int i = 0; i < 2; ++i) sqlite_.push_back(std::make_unique<SqliteStore>(path_, SqliteStoreOptions{.clock = &clock_}));
  }

  // One random call, on both. The name of what differs, if anything.
  void step() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return add();
      case 3:
        return pass_time();
      case 4:
        return ask(
            "claim", [claim = claim()](Store& store) { return answer(store.claim(claim)); }, true);
      case 5:
      case 6:
        return ask(
            "mark_and_claim",
            [ids = ids_not_waiting(), claim = claim()](Store& store) { return answer(store.mark_and_claim(ids, claim)); }, true);
      case 7:
        return fail();
      case 8:
        return ask("release", [leases = some_leases(), reason = below(2) == 0 ? "" : "outage"](Store& store) {
          return answer(store.release(leases, reason));
        });
      case 9:
        return ask("renew",
                   [leases = some_leases(), lease = some_time()](Store& store) { return answer(store.renew(leases, lease)); });
      case 10:
        return ask("mark_published", [ids = some_ids()](Store& store) {
          store.mark_published(ids);
          return std::string();
        });
      default:
        return look();
    }
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_.next() % end; }
  microseconds some_time() { return seconds(1 + below(90)); }
  std::string some_id() { return "id-" + std::to_string(below(40)); }

  std::vector<std::string> some_ids() {
    std::vector<std::string> ids(below(4));
    for (std::string& id : ids) id = some_id();
    return ids;
  }

  // A store may look for what it will claim before it marks; rows behind one that was waiting and is marked then come next time.
  std::vector<std::string> ids_not_waiting() {
    std::vector<std::string> ids = some_ids();
    const std::vector<std::string> waiting = database_.values(
        "SELECT id FROM acemq_outbox WHERE published_at IS NULL AND locked_by IS NULL AND locked_until IS NOT NULL");
    std::erase_if(ids, [&](const std::string& id) { return std::find(waiting.begin(), waiting.end(), id) != waiting.end(); });
    return ids;
  }

  // Mostly what a claim gave, perhaps long ago.
  std::vector<Lease> some_leases() {
    std::vector<Lease> leases(below(5));
    for (Lease& lease : leases) {
      lease = leases_.empty() || below(8) == 0 ? Lease{some_id(), "nobody"} : leases_[below(leases_.size())];
    }
    return leases;
  }

  Claim claim() {
    Claim claim{.token = "token-" + std::to_string(++tokens_),
                .rows_max = 1 + below(8),
                .bytes_max = below(3) == 0 ? 1 + below(2000) : std::size_t{1} << 20,
                .lease = some_time(),
                .attempts_max = kAttemptsMax};
    if (below(3) == 0) claim.created_from = clock_.now() - seconds(below(200));
    return claim;
  }

  void add() {
    // Some stand behind rows that were claimed already: a transaction that committed late.
    const std::array keys{"order.placed", "order.paid", "order.sent"};
    const outbox::Record record = make_record(some_id(), clock_.now() - seconds(below(100)), keys[below(keys.size())]);
    if (!ids_.insert(record.id).second) return;
    memory_.add(record);
    database_.add(record);
  }

  void pass_time() {
    if (below(8) == 0) return clock_.step(hours(1) * (below(2) == 0 ? 1 : -1));
    clock_.advance(seconds(below(60)));
  }

  void fail() {
    std::vector<RowFailure> failures;
    for (const Lease& lease : some_leases()) {
      failures.push_back(
          {.lease = lease, .reason = "refused", .counts = below(3) != 0, .wait = below(3) == 0 ? microseconds{0} : some_time()});
    }
    ask("fail", [failures](Store& store) { return answer(store.fail(failures)); });
  }

  void look() {
    ask("backlog", [](Store& store) {
      const auto backlog = store.backlog(kAttemptsMax).value();
      std::ostringstream text;
      text << backlog.pending << ' ' << backlog.waiting << ' ' << backlog.leased << ' ' << backlog.retired << ' '
           << (backlog.oldest ? base::format_iso(*backlog.oldest) : "none");
      return text.str();
    });
    ask("retired", [rows_max = 1 + below(5)](Store& store) {
      std::string text;
      for (const auto& row : store.retired(kAttemptsMax, rows_max)) text += row.id + ' ' + row.last_error + '\n';
      return text;
    });
    if (below(4) != 0) return;
    // All at once: which of several old rows go first is not promised.
    const Timestamp before = clock_.now() - seconds(below(100));
    ask("purge_published", [before](Store& store) { return std::to_string(store.purge_published(before, 1000)); });
    for (auto id = ids_.begin(); id != ids_.end();) {
      id = database_.value("SELECT count(*) FROM acemq_outbox WHERE id = '" + *id + "'") == "0" ? ids_.erase(id) : std::next(id);
    }
  }

  void ask(const std::string& what, const Answer& call, bool claims = false) {
    const std::string in_memory = call(memory_);
    const std::string in_sqlite = call(*sqlite_[below(sqlite_.size())]);
    ASSERT_EQ(in_sqlite, in_memory) << what;
    ASSERT_EQ(table_of(database_), table_of(memory_)) << "after " << what;
    if (!claims) return;
    std::istringstream lines(in_memory);
    for (std::string line; std::getline(lines, line);) {
      leases_.push_back({line.substr(0, line.find(' ')), "token-" + std::to_string(tokens_)});
    }
  }

  const TempFolder folder_;
  const std::string path_ = folder_.file("outbox.db");
  const Database database_{path_};
  ManualClock clock_;
  SeededRandom random_;
  MemoryStore memory_;
  std::vector<std::unique_ptr<SqliteStore>> sqlite_;
  std::set<std::string> ids_;  // in the tables
  std::vector<Lease> leases_;  // given so far
  std::size_t tokens_ = 0;
};

// Whoever tests with a MemoryStore sees what a SQLite table would do: random calls give both the same answers and leave the same
// rows. The seed is in the message.
TEST(StoresAgree, OnRandomCalls) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    TwoStores stores(seed);
    for (int step = 0; step < 150; ++step) {
      stores.step();
      ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace acemq::test
