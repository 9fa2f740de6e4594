// How near a relay on SQLite comes to what the broker itself confirms, how soon a message is out, and what that costs; beside it
// the usual loop. All in one run, in interleaved rounds, because a machine's speed changes within the hour: trust the ratios.
//
//   relay_bench --url URL [--folder DIR] [--broker-pid PID] [--queue classic|quorum] [--rounds N] [--messages N]
//               [--paced-seconds N] [--json]
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sqlite3.h>

#include "measure.hpp"
#include "measurements.hpp"

namespace {

using namespace acemq::bench;  // NOLINT(google-build-using-namespace): this file is its only user

struct Options {
  std::string url = {}, folder = ".", queue = "classic";
  int broker_pid = 0;
  std::size_t rounds = 3, messages = 20000;
  int paced_seconds = 5;
  bool json = false;
};

Options parse(int count, char** words) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> known{
      {"--url", [&](const std::string& value) { options.url = value; }},
      {"--folder", [&](const std::string& value) { options.folder = value; }},
      {"--queue", [&](const std::string& value) { options.queue = value; }},
      {"--broker-pid", [&](const std::string& value) { options.broker_pid = std::stoi(value); }},
      {"--rounds", [&](const std::string& value) { options.rounds = std::stoul(value); }},
      {"--messages", [&](const std::string& value) { options.messages = std::stoul(value); }},
      {"--paced-seconds", [&](const std::string& value) { options.paced_seconds = std::stoi(value); }},
  };
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--json") {
      options.json = true;
      continue;
    }
    const auto option = known.find(word);
    if (option == known.end() || ++i == count) throw std::invalid_argument("unknown, or without a value: " + word);
    option->second(words[i]);
  }
  if (options.url.empty()) throw std::invalid_argument("--url is needed");
  if (options.rounds == 0 || options.messages == 0 || options.paced_seconds < 1) {
    throw std::invalid_argument("rounds, messages and seconds must be at least 1");
  }
  return options;
}

// Only what start-rabbitmq prints: amqp://guest:guest@HOST:PORT/%2f.
Broker broker_of(const std::string& url) {
  const std::size_t host = url.find('@') + 1, port = url.find(':', host), path = url.find('/', host);
  if (host == 0 || port == std::string::npos || path == std::string::npos)
    throw std::invalid_argument("--url needs user, host and port");
  Broker broker;
  broker.host = url.substr(host, port - host);
  broker.port = std::stoi(url.substr(port + 1, path - port - 1));
  return broker;
}

void declare(acemq::AmqpTransport& transport, const std::string& queue_type) {
  transport.declare(acemq::ExchangeDeclaration{.name = kExchange, .type = "direct"});
  transport.declare(acemq::QueueDeclaration{.name = kQueue, .arguments = {{"x-queue-type", queue_type}}});
  transport.bind({.queue = kQueue, .exchange = kExchange, .routing_key = kQueue});
}

// The values of one figure, one for each round, by name: "relay.rate".
class Figures {
 public:
  void add(const std::string& name, const Throughput& throughput) {
    values_[name + ".rate"].push_back(throughput.rate);
    values_[name + ".thread_us"].push_back(throughput.relay_thread_us);
    values_[name + ".io_us"].push_back(throughput.io_thread_us);
    values_[name + ".broker_us"].push_back(throughput.broker_us);
    values_[name + ".duplicates"].push_back(static_cast<double>(throughput.duplicates));
  }
  void add(const std::string& name, const Latency& latency) {
    values_[name + ".confirm_p50_ms"].push_back(latency.confirm_p50_ms);
    values_[name + ".confirm_p99_ms"].push_back(latency.confirm_p99_ms);
    values_[name + ".delivery_p50_ms"].push_back(latency.delivery_p50_ms);
    values_[name + ".delivery_p99_ms"].push_back(latency.delivery_p99_ms);
    values_[name + ".late_p99_ms"].push_back(latency.late_p99_ms);
    values_[name + ".relay_us"].push_back(latency.relay_us);
    values_[name + ".broker_us"].push_back(latency.broker_us);
  }
  void add(const std::string& name, double value) { values_[name].push_back(value); }

  std::string show(const std::string& name, int digits) const {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << median(values_.at(name));
    return text.str();
  }
  std::string show_with_range(const std::string& name, int digits) const {
    const auto [low, high] = std::minmax_element(values_.at(name).begin(), values_.at(name).end());
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << median(values_.at(name)) << " [" << *low << "-" << *high << "]";
    return text.str();
  }
  std::string json() const {
    std::ostringstream text;
    const char* separator = "";
    for (const auto& [name, values] : values_) {
      text << separator << '"' << name << R"(":)" << median(values);
      separator = ",";
    }
    return "{" + text.str() + "}";
  }

 private:
  std::map<std::string, std::vector<double>> values_;
};

constexpr std::size_t kPaces[] = {1000, 200};

Figures measure(const Bench& bench, const Options& options) {
  Figures figures;
  // The loop is about ten times slower.
  const std::size_t loop_messages = std::max<std::size_t>(options.messages / 10, 1);
  for (std::size_t round = 1; round <= options.rounds; ++round) {
    std::cerr << "round " << round << " of " << options.rounds << '\n';
    const Throughput broker = broker_alone(bench, options.messages), relay = relay_backlog(bench, options.messages),
                     loop = plain_loop(bench, loop_messages);
    figures.add("broker", broker);
    figures.add("relay", relay);
    figures.add("loop", loop);
    figures.add("relay/broker", relay.rate / broker.rate);
    figures.add("loop/broker", loop.rate / broker.rate);
    figures.add("relay/loop", relay.rate / loop.rate);
    for (const std::size_t pace : kPaces) {
      figures.add("paced" + std::to_string(pace), paced(bench, pace, std::chrono::seconds(options.paced_seconds)));
    }
  }
  return figures;
}

void print_table(const Figures& figures, const Options& options, std::size_t window) {
  std::cout << machine() << "\nSQLite " << sqlite3_libversion() << ", " << today() << "; " << options.queue << " queue, window "
            << window << ", " << options.messages << " messages of " << kBodyBytes << " bytes; medians of " << options.rounds
            << " interleaved rounds [low-high]\n\n"
            << "| backlog | messages/s | of the broker's rate | us per message: relay thread | I/O thread | broker |\n"
            << "|---|---|---|---|---|---|\n";
  const auto row = [&](const std::string& title, const std::string& name, const std::string& ratio) {
    std::cout << "| " << title << " | " << figures.show_with_range(name + ".rate", 0) << " | " << ratio << " | "
              << figures.show(name + ".thread_us", 1) << " | " << figures.show(name + ".io_us", 1) << " | "
              << figures.show(name + ".broker_us", 0) << " |\n";
  };
  row("broker alone, no database", "broker", "1");
  row("relay on SQLite", "relay", figures.show_with_range("relay/broker", 2));
  row("plain loop on SQLite", "loop", figures.show_with_range("loop/broker", 2));
  std::cout << "\nrelay / plain loop: " << figures.show_with_range("relay/loop", 1)
            << "; duplicates: " << figures.show("relay.duplicates", 0)
            << "\n\n| committed messages/s | to the confirm, ms: p50 | p99 | to the consumer: p50 | p99 | us per message: relay "
               "| broker |\n"
            << "|---|---|---|---|---|---|---|\n";
  for (const std::size_t pace : kPaces) {
    const std::string name = "paced" + std::to_string(pace);
    std::cout << "| " << pace << " | " << figures.show_with_range(name + ".confirm_p50_ms", 2) << " | "
              << figures.show_with_range(name + ".confirm_p99_ms", 1) << " | " << figures.show(name + ".delivery_p50_ms", 2)
              << " | " << figures.show(name + ".delivery_p99_ms", 1) << " | " << figures.show(name + ".relay_us", 0) << " | "
              << figures.show(name + ".broker_us", 0) << " |\n";
  }
}

void print_json(const Figures& figures, const Options& options) {
  std::cout << R"({"machine":")" << machine() << R"(","day":")" << today() << R"(","queue":")" << options.queue
            << R"(","messages":)" << options.messages << R"(,"rounds":)" << options.rounds << R"(,"medians":)" << figures.json()
            << "}\n";
}

}  // namespace

int main(int count, char** words) try {
  const Options options = parse(count, words);
  Bench bench{.database = options.folder + "/bench.db", .broker = broker_of(options.url), .broker_pid = options.broker_pid};
  // The consumer's process is forked before there is any thread; its queue is made by a transport that is gone by then.
  declare(*std::make_unique<acemq::AmqpTransport>(options.url), options.queue);
  const std::size_t messages_max = std::max(options.messages, kPaces[0] * static_cast<std::size_t>(options.paced_seconds)) + 1;
  Consumer consumer(bench.broker, kQueue, messages_max);
  bench.consumer = &consumer;
  bench.transport = std::make_shared<acemq::AmqpTransport>(options.url);

  const Figures figures = measure(bench, options);
  options.json ? print_json(figures, options) : print_table(figures, options, bench.window);
  return 0;
} catch (const std::exception& error) {
  std::cerr << "relay_bench: " << error.what() << '\n';
  return 1;
}
