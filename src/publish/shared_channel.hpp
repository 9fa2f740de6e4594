#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "publish/window.hpp"

namespace acemq::publish {

// One channel for many threads, without a thread of its own: of those that wait one leads, sends and settles for all, until its
// own messages are settled; then another takes over.
class SharedChannel {
 public:
  SharedChannel(std::unique_ptr<PublishChannel> channel, const Clock& clock, Limits limits)
      : window_(std::move(channel), clock, limits) {}

  // Returns once each message is settled; the outcomes are in their order.
  std::vector<PublishOutcome> publish(std::span<const Message> messages);

 private:
  void lead(const Job& own, std::unique_lock<std::mutex>& lock);
  void admit_arrivals();
  void leave() noexcept;

  std::mutex mutex_;  // of all but the window, which is the leader's
  std::condition_variable changed_;
  bool led_ = false;
  std::vector<Job*> arrivals_;
  Window window_;
};

}  // namespace acemq::publish
