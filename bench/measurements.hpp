// What relay_bench measures. Every measurement sends messages 1 to N of the same kind to the same queue, where the same consumer
// waits, and ends when all of them have been confirmed and have arrived.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "acemq/amqp.hpp"
#include "rabbit.hpp"

namespace acemq::bench {

inline constexpr std::size_t kBodyBytes = 256;
inline constexpr const char* kExchange = "bench";
inline constexpr const char* kQueue = "bench";

struct Bench {
  std::string database;  // made anew for each measurement
  Broker broker;
  int broker_pid = 0;  // 0: its processor time is not measured
  std::size_t window = 1000;
  std::shared_ptr<AmqpTransport> transport = nullptr;
  Consumer* consumer = nullptr;
};

struct Throughput {
  double rate = 0;             // confirmed messages a second
  double relay_thread_us = 0;  // processor time per message: reading, settling and marking, SQLite included
  double io_thread_us = 0;     // and the transport's
  double broker_us = 0;
  std::size_t duplicates = 0;
};

// Publishes as fast as the window allows, with no database: what this broker confirms.
Throughput broker_alone(const Bench& bench, std::size_t messages);
// A relay drains a backlog.
Throughput relay_backlog(const Bench& bench, std::size_t messages);
// The usual loop: read a hundred, publish one, wait for its confirm, mark it.
Throughput plain_loop(const Bench& bench, std::size_t messages);

struct Latency {
  double confirm_p50_ms = 0, confirm_p99_ms = 0;    // from the commit's return to the confirm
  double delivery_p50_ms = 0, delivery_p99_ms = 0;  // to the consumer
  double late_p99_ms = 0;                           // how far the application fell behind its pace
  double relay_us = 0;                              // processor time per message, both threads, SQLite included
  double broker_us = 0;
};

// An application commits one message at a time at this pace and wakes the relay after each commit.
Latency paced(const Bench& bench, std::size_t messages_per_second, std::chrono::seconds duration);

}  // namespace acemq::bench
