#include "measurements.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sqlite3.h>

#include "acemq/adapters/sqlite.hpp"
#include "acemq/observer.hpp"
#include "acemq/outbox/record.hpp"
#include "acemq/outbox/relay.hpp"
#include "acemq/sqlite_store.hpp"
#include "database.hpp"
#include "measure.hpp"

namespace acemq::bench {

using std::chrono::nanoseconds;

namespace {

constexpr std::chrono::seconds kPatience{120};

std::string id_of(std::size_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012zu", number);
  return text;
}

std::size_t number_of(std::string_view id) { return std::strtoull(std::string(id.substr(id.size() - 12)).c_str(), nullptr, 10); }

std::string body_of(std::size_t number) {
  std::string body = R"({"n":)" + std::to_string(number) + R"(,"pad":")";
  body.append(kBodyBytes - 2 - body.size(), 'x');
  return body + R"("})";
}

outbox::Record record_of(const MessageFactory& shop, std::size_t number) {
  return outbox::record(shop, body_of(number),
                        {.to = kQueue, .exchange = kExchange, .type = "order.placed.v2", .id = id_of(number)});
}

// The shop's database, with the application's connection to it.
Database new_database(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path + suffix).c_str());
  Database db(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = NORMAL");  // the application's choice; the relay's connection keeps SQLite's default
  db.run("CREATE TABLE orders (number INTEGER PRIMARY KEY, cents INTEGER NOT NULL)");
  db.run(sqlite_schema());
  return db;
}

void fill(Database& db, std::size_t first, std::size_t last) {
  const MessageFactory shop{{.origin = "shop@bench"}};
  constexpr std::size_t kPerTransaction = 1000;
  for (std::size_t number = first; number <= last;) {
    Transaction transaction(db);
    for (std::size_t i = 0; i < kPerTransaction && number <= last; ++i) outbox::add(db.get(), record_of(shop, number++));
    transaction.commit();
  }
}

void place_order(Database& db, const MessageFactory& shop, std::size_t number) {
  Transaction transaction(db);
  db.run("INSERT INTO orders VALUES (" + std::to_string(number) + ", 1999)");
  outbox::add(db.get(), record_of(shop, number));
  transaction.commit();
}

// The oldest hundred, id and body.
std::vector<std::pair<std::string, std::string>> read_pending(Database& db) {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto take = [](void* to, int, char** columns, char**) {
    static_cast<decltype(rows)*>(to)->emplace_back(columns[0], columns[1]);
    return 0;
  };
  const char* sql = "SELECT id, body FROM acemq_outbox WHERE published_at IS NULL ORDER BY created_at, id LIMIT 100";
  if (sqlite3_exec(db.get(), sql, take, &rows, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db.get()));
  return rows;
}

// Notes when each message was confirmed. Its calls come from the relay's thread.
class Confirms : public Observer {
 public:
  explicit Confirms(std::size_t messages_max) : at_(messages_max + 1) {}

  void on_delivered(const DeliveryReport& report) override {
    at_[number_of(report.id)] = now();
    const std::lock_guard lock(mutex_);
    pthread_getcpuclockid(pthread_self(), &clock_);
    if (++count_ == awaited_) all_.notify_one();
  }
  void on_failed(const FailureReport& report) override {
    const std::lock_guard lock(mutex_);
    failure_ = report.failure.reason;
    all_.notify_one();
  }

  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    awaited_ = count;
    const bool done = all_.wait_for(lock, kPatience, [&] { return count_ >= count || !failure_.empty(); });
    if (!failure_.empty()) throw std::runtime_error("the relay reports: " + failure_);
    if (!done) throw std::runtime_error("waited too long for confirms");
  }

  nanoseconds at(std::size_t number) const { return at_[number]; }
  // Of the thread that reported last, while it lives.
  nanoseconds cpu_of_relay_thread() {
    const std::lock_guard lock(mutex_);
    timespec time{};
    clock_gettime(clock_, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
  }

 private:
  std::vector<nanoseconds> at_;
  std::mutex mutex_;
  clockid_t clock_ = 0;
  std::condition_variable all_;
  std::size_t count_ = 0, awaited_ = 0;
  std::string failure_;
};

// What both threads of this process but the calling one, and the broker, have used since the last call.
struct CpuMeter {
  explicit CpuMeter(int broker_pid) : pid(broker_pid), others(cpu_of_others()), broker(cpu_of(broker_pid)) {}
  static nanoseconds cpu_of_others() { return cpu_of_process() - cpu_of_thread(); }
  nanoseconds others_used() const { return cpu_of_others() - others; }
  nanoseconds broker_used() const { return cpu_of(pid) - broker; }
  int pid;
  nanoseconds others, broker;
};

void wait_for_arrivals(const Bench& bench, std::size_t count) {
  wait_until([&] { return bench.consumer->received() >= count; }, kPatience, "the consumer");
}

// A relay whose channel is open: it has carried message 0.
struct WarmRelay {
  WarmRelay(const Bench& bench, Database& db, std::size_t messages_max)
      : confirms(std::make_shared<Confirms>(messages_max)),
        relay(std::make_shared<SqliteStore>(bench.database), bench.transport, {.window = bench.window, .observer = confirms}) {
    bench.consumer->forget();
    fill(db, 0, 0);
    relay.sweep();
  }
  const std::shared_ptr<Confirms> confirms;
  outbox::Relay relay;
};

void check_all_marked(Database& db, std::size_t messages) {
  const auto marked = db.number("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL");
  if (marked != static_cast<std::int64_t>(messages)) {
    throw std::runtime_error("only " + std::to_string(marked) + " rows were marked published");
  }
}

}  // namespace

Throughput broker_alone(const Bench& bench, std::size_t messages) {
  const MessageFactory shop{{.origin = "shop@bench"}};
  std::vector<Message> prepared;
  for (std::size_t number = 1; number <= messages; ++number) {
    outbox::Record record = record_of(shop, number);
    prepared.push_back({.exchange = record.exchange,
                        .routing_key = record.routing_key,
                        .message_id = record.id,
                        .content_type = record.content_type,
                        .headers = std::move(record.headers),
                        .body = std::move(record.body)});
  }
  const auto channel = bench.transport->publish_channel();
  if (const auto failure = channel->open(std::chrono::seconds(10))) throw PublishError(*failure);
  bench.consumer->forget();

  const CpuMeter cpu(bench.broker_pid);
  const nanoseconds own = cpu_of_thread(), start = now();
  std::size_t sent = 0, confirmed = 0;
  std::vector<Publication> batch;
  std::vector<TransportEvent> events;
  while (confirmed < messages) {
    batch.clear();
    for (; sent < messages && sent - confirmed < bench.window; ++sent) batch.push_back({sent, &prepared[sent]});
    channel->publish(batch);
    events.clear();
    channel->poll(events, std::chrono::seconds(30));
    if (events.empty()) throw std::runtime_error("waited too long for confirms");
    for (const TransportEvent& event : events) {
      if (event.kind != TransportEvent::Kind::confirmed) throw std::runtime_error("the broker did not confirm: " + event.text);
      ++confirmed;
    }
  }
  const nanoseconds elapsed = now() - start;
  wait_for_arrivals(bench, messages);
  return {.rate = static_cast<double>(messages) / seconds(elapsed),
          .relay_thread_us = microseconds_each(cpu_of_thread() - own, messages),
          .io_thread_us = microseconds_each(cpu.others_used(), messages),
          .broker_us = microseconds_each(cpu.broker_used(), messages),
          .duplicates = bench.consumer->duplicates()};
}

Throughput relay_backlog(const Bench& bench, std::size_t messages) {
  Database db = new_database(bench.database);
  WarmRelay warm(bench, db, messages);
  fill(db, 1, messages);

  const CpuMeter cpu(bench.broker_pid);
  const nanoseconds start = now();
  warm.relay.start();
  warm.confirms->wait_for(messages + 1);
  const nanoseconds elapsed = now() - start;
  wait_for_arrivals(bench, messages + 1);
  const nanoseconds broker = cpu.broker_used(), relay_thread = warm.confirms->cpu_of_relay_thread(), others = cpu.others_used();
  warm.relay.close();
  check_all_marked(db, messages + 1);
  return {.rate = static_cast<double>(messages) / seconds(elapsed),
          .relay_thread_us = microseconds_each(relay_thread, messages),
          .io_thread_us = microseconds_each(others - relay_thread, messages),
          .broker_us = microseconds_each(broker, messages),
          .duplicates = bench.consumer->duplicates()};
}

Throughput plain_loop(const Bench& bench, std::size_t messages) {
  Database db = new_database(bench.database);
  fill(db, 1, messages);
  Database relay(bench.database);
  PlainPublisher publisher(bench.broker);
  bench.consumer->forget();

  const nanoseconds broker_before = cpu_of(bench.broker_pid), own = cpu_of_thread(), start = now();
  for (std::size_t done = 0; done < messages;) {
    const auto rows = read_pending(relay);
    if (rows.empty()) throw std::runtime_error("rows are missing");
    for (const auto& [id, body] : rows) {
      publisher.publish(kExchange, kQueue, id, body);
      relay.run("UPDATE acemq_outbox SET published_at = strftime('%Y-%m-%dT%H:%M:%fZ') WHERE id = '" + id + "'");
    }
    done += rows.size();
  }
  const nanoseconds elapsed = now() - start, used = cpu_of_thread() - own;
  wait_for_arrivals(bench, messages);
  return {.rate = static_cast<double>(messages) / seconds(elapsed),
          .relay_thread_us = microseconds_each(used, messages),
          .broker_us = microseconds_each(cpu_of(bench.broker_pid) - broker_before, messages),
          .duplicates = bench.consumer->duplicates()};
}

Latency paced(const Bench& bench, std::size_t messages_per_second, std::chrono::seconds duration) {
  const std::size_t messages = messages_per_second * static_cast<std::size_t>(duration.count());
  Database db = new_database(bench.database);
  WarmRelay warm(bench, db, messages);
  warm.relay.start();
  const MessageFactory shop{{.origin = "shop@bench"}};

  std::vector<nanoseconds> committed(messages + 1);
  std::vector<double> late;
  const CpuMeter cpu(bench.broker_pid);
  const nanoseconds start = now();
  for (std::size_t number = 1; number <= messages; ++number) {
    const nanoseconds due = start + nanoseconds(std::chrono::seconds(1)) * number / messages_per_second;
    wait_for_time(due);
    late.push_back(milliseconds(now() - due));
    place_order(db, shop, number);
    committed[number] = now();
    warm.relay.wake();
  }
  warm.confirms->wait_for(messages + 1);
  wait_for_arrivals(bench, messages + 1);
  const nanoseconds broker = cpu.broker_used(), others = cpu.others_used();
  warm.relay.close();
  check_all_marked(db, messages + 1);

  std::vector<double> confirm, delivery;
  for (std::size_t number = 1; number <= messages; ++number) {
    confirm.push_back(milliseconds(warm.confirms->at(number) - committed[number]));
    delivery.push_back(milliseconds(bench.consumer->arrival(number) - committed[number]));
  }
  return {.confirm_p50_ms = percentile(confirm, 0.5),
          .confirm_p99_ms = percentile(confirm, 0.99),
          .delivery_p50_ms = percentile(delivery, 0.5),
          .delivery_p99_ms = percentile(delivery, 0.99),
          .late_p99_ms = percentile(late, 0.99),
          .relay_us = microseconds_each(others, messages),
          .broker_us = microseconds_each(broker, messages)};
}

}  // namespace acemq::bench
