// What a claim and a mark cost in SQLite, by what is in the table.
//
//   sqlite_store_bench FOLDER [PENDING PUBLISHED WAITING]
//
// Fills FOLDER/bench.db (WAL), drains part of it through SqliteStore in batches of 100, marks and next claim in one step as the
// relay does, and prints rows per second and the median of one step. WAITING rows of a lane that is backing off stand in front.
// Without numbers it goes through the table sizes that show whether the cost grows. Compare within one run only.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "acemq/sqlite_store.hpp"

namespace {

using Steady = std::chrono::steady_clock;

constexpr int kBatches = 90;  // of 100 rows

double ms_since(Steady::time_point start) { return std::chrono::duration<double, std::milli>(Steady::now() - start).count(); }

void run(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
}

std::string rows(long count, const char* key, const char* published_at, const char* created) {
  return "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(count) +
         ") INSERT INTO acemq_outbox SELECT lower(hex(randomblob(16))), 'shop-events', '" + key +
         "', hex(zeroblob(128)), 'utf-8', 'application/json', '{\"x-acemq-id\":\"' || hex(zeroblob(40)) || '\"}', "
         "strftime('%Y-%m-%dT%H:%M:%S', '" +
         created + "', (i / 1000) || ' seconds') || printf('.%06dZ', i % 1000 * 1000), " + published_at +
         ", 0, NULL, NULL, NULL FROM n WHERE " + std::to_string(count) + " > 0;";
}

void fill(const std::string& path, long pending, long published, long waiting) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path + suffix).c_str());
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
  run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; BEGIN;" + acemq::sqlite_schema() +
              rows(published, "order.placed", "'2026-01-01T00:00:00.000000Z'", "2025-12-01") +
              rows(waiting, "slow", "NULL", "2026-01-01") + rows(pending, "order.placed", "NULL", "2026-02-01") +
              "UPDATE acemq_outbox SET locked_until = '2999-01-01T00:00:00.000000Z' WHERE rowid = (SELECT min(rowid) FROM "
              "acemq_outbox WHERE routing_key = 'slow'); COMMIT; PRAGMA wal_checkpoint(TRUNCATE);");
  sqlite3_close(db);
}

void measure(const std::string& folder, long pending, long published, long waiting) {
  const std::string path = folder + "/bench.db";
  fill(path, pending, published, waiting);
  acemq::SqliteStore store(path);
  std::vector<std::string> ids;
  std::vector<double> steps;
  std::optional<acemq::Timestamp> from;
  std::size_t total = 0;
  const auto start = Steady::now();
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto step = Steady::now();
    const auto claimed = store.mark_and_claim(ids, {.token = std::to_string(batch), .created_from = from});
    steps.push_back(ms_since(step));
    ids.clear();
    for (const auto& row : claimed) ids.push_back(row.id);
    if (!claimed.empty()) from = claimed.front().created_at;  // as the relay does between two reconciling claims
    total += claimed.size();
  }
  const double seconds = ms_since(start) / 1000;
  const double first = steps[0];
  std::nth_element(steps.begin(), steps.begin() + kBatches / 2, steps.end());
  std::printf("%9ld pending %9ld published %9ld waiting: %7.0f rows/s, step of 100 %6.2f ms, first claim %8.2f ms\n", pending,
              published, waiting, static_cast<double>(total) / seconds, steps[kBatches / 2], first);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2 && count != 5) {
    std::fprintf(stderr, "usage: sqlite_store_bench FOLDER [PENDING PUBLISHED WAITING]\n");
    return 2;
  }
  try {
    const std::string folder = arguments[1];
    if (count == 5) {
      measure(folder, std::atol(arguments[2]), std::atol(arguments[3]), std::atol(arguments[4]));
      return 0;
    }
    measure(folder, 10'000, 0, 0);
    measure(folder, 1'000'000, 0, 0);
    measure(folder, 10'000, 1'000'000, 0);
    measure(folder, 10'000, 0, 1'000'000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sqlite_store_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
