#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "acemq/transport.hpp"

namespace acemq::test {

// Confirms nothing before so many messages are unanswered at once; then all. Has every exchange but "nowhere". poll() waits for
// real.
class PatientBroker final : public Transport {
 public:
  explicit PatientBroker(std::size_t together) : together_(together) {}
  std::unique_ptr<PublishChannel> publish_channel() override { return std::make_unique<Channel>(*this); }
  // Until the first message is handed over.
  void await_message() { handed_over_.wait(); }
  // How often an exchange was asked about.
  std::size_t checks() const { return checks_; }
  std::string description() const override { return "a patient broker"; }

 private:
  class Channel final : public PublishChannel {
   public:
    explicit Channel(PatientBroker& broker) : broker_(broker) {}
    std::optional<Failure> open(std::chrono::milliseconds) override { return std::nullopt; }
    bool is_open() const override { return true; }
    std::optional<std::string> blocked_reason() const override { return std::nullopt; }
    void close() override {}
    std::optional<Failure> check_exchange(std::string_view exchange, std::chrono::milliseconds) override {
      ++broker_.checks_;
      if (exchange != "nowhere") return std::nullopt;
      return Failure{FailureClass::refusal, 404, "no such exchange", {}};
    }
    void publish(std::span<const Publication> publications) override {
      for (const Publication& each : publications) tickets_.push_back(each.ticket);
      if (!broker_.handed_over_.try_wait()) broker_.handed_over_.count_down();
    }
    void poll(std::vector<TransportEvent>& events, std::chrono::nanoseconds timeout) override {
      if (tickets_.size() < broker_.together_) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, timeout, [&] { return interrupted_; });
        interrupted_ = false;
        return;
      }
      for (const std::uint64_t ticket : tickets_) events.push_back({.ticket = ticket});
      tickets_.clear();
    }
    void interrupt() noexcept override {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
      changed_.notify_all();
    }
    void cancel() noexcept override {}

   private:
    PatientBroker& broker_;
    std::vector<std::uint64_t> tickets_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool interrupted_ = false;
  };

  const std::size_t together_;
  std::atomic<std::size_t> checks_ = 0;
  std::latch handed_over_{1};
};

}  // namespace acemq::test
