// The other side of the measurements, on librabbitmq, so that it is not our own code that says what arrived: a process that
// consumes, and a publisher as it is usually written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "acemq/transport.hpp"

namespace acemq::bench {

struct Broker {
  std::string host = "127.0.0.1";
  int port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
};

// A process of its own that consumes a queue, acknowledges every 100 and whenever nothing comes, and notes when each message
// arrived by the number at the beginning of its body: {"n":17, …
class Consumer {
 public:
  // Forks: call it before any thread is started. The queue must exist.
  Consumer(const Broker& broker, const std::string& queue, std::size_t messages_max);
  ~Consumer();
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  // Forgets everything; for the time between two measurements, when nothing is under way.
  void forget();
  std::size_t received() const;    // distinct
  std::size_t duplicates() const;  // beside them
  // When message `number` came for the first time (bench::now()); zero: it has not.
  std::chrono::nanoseconds arrival(std::size_t number) const;

 private:
  struct Shared;  // memory that both processes see
  void consume(const Broker& broker, const std::string& queue);

  Shared* shared_ = nullptr;
  std::size_t bytes_ = 0;
  int child_ = 0;
};

// One publish, then the wait for its confirm.
class PlainPublisher {
 public:
  explicit PlainPublisher(const Broker& broker);
  ~PlainPublisher();
  PlainPublisher(const PlainPublisher&) = delete;
  PlainPublisher& operator=(const PlainPublisher&) = delete;

  // A message id, a content type and one header, as plain code sends.
  void publish(const std::string& exchange, const std::string& routing_key, const std::string& id, const std::string& body);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace acemq::bench
