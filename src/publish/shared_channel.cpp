#include "publish/shared_channel.hpp"

#include <utility>

namespace acemq::publish {

std::vector<PublishOutcome> SharedChannel::publish(std::span<const Message> messages) {
  if (messages.empty()) return {};
  Job job(messages);
  std::unique_lock lock(mutex_);
  arrivals_.push_back(&job);
  if (led_) window_.interrupt();
  changed_.wait(lock, [&] { return job.done || !led_; });
  if (!job.done) lead(job, lock);
  return std::move(job.outcomes);
}

void SharedChannel::lead(const Job& own, std::unique_lock<std::mutex>& lock) {
  led_ = true;
  try {
    // Before arrivals are admitted, never between that and a wait: it may take the interrupt that told of one.
    lock.unlock();
    window_.look();
    lock.lock();
    while (!own.done) {
      admit_arrivals();
      lock.unlock();
      window_.send();
      window_.receive();
      lock.lock();
      if (window_.remove_finished()) changed_.notify_all();
    }
  } catch (...) {  // no memory, or a transport that throws: nobody may be left waiting
    if (!lock.owns_lock()) lock.lock();
    window_.abandon();
    for (Job* job : std::exchange(arrivals_, {})) job->done = true;
    leave();
    throw;
  }
  leave();
}

void SharedChannel::admit_arrivals() {
  for (Job* job : arrivals_) window_.admit(*job);
  arrivals_.clear();
}

void SharedChannel::leave() noexcept {
  led_ = false;
  changed_.notify_all();
}

}  // namespace acemq::publish
