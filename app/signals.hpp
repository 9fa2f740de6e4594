// SIGTERM and SIGINT ask for an orderly end; a second one ends the program at once. SIGHUP is ignored, and said so.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "base/descriptor.hpp"

namespace acemq::app {

class StopSignals {
 public:
  // Make it before any other thread: those inherit that these signals are not theirs. `on_hangup` is called by a thread of its
  // own.
  explicit StopSignals(std::function<void()> on_hangup);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The first signal, or 0 while there was none.
  int received() const noexcept { return received_; }
  // Waits for it.
  int wait() const noexcept;

 private:
  void listen();
  void receive(int signal);

  std::function<void()> on_hangup_;
  base::Descriptor signals_, end_;
  std::atomic<int> received_{0};
  std::thread thread_;
};

}  // namespace acemq::app
