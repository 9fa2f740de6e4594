#include "acemq/outbox/relay.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "relay/loop.hpp"

namespace acemq::outbox {
namespace {

template <class Value>
void check_bounds(const char* option, Value value, Value low, Value high, const char* bounds, long long shown) {
  if (value < low || value > high) throw InvalidConfiguration(option, bounds, std::to_string(shown));
}

void check(const RelayOptions& options) {
  using namespace std::chrono_literals;
  const auto time = [](const char* option, std::chrono::milliseconds value, std::chrono::milliseconds low,
                       std::chrono::milliseconds high,
                       const char* bounds) { check_bounds(option, value, low, high, bounds, value.count()); };
  const auto number = [](const char* option, std::size_t value, std::size_t high, const char* bounds) {
    check_bounds(option, value, std::size_t{1}, high, bounds, static_cast<long long>(value));
  };
  time("interval", options.interval, 10ms, 1h, "must be 10 ms to 1 h");
  time("lease", options.lease, 5s, 1h, "must be 5 s to 1 h");
  time("confirm_timeout", options.confirm_timeout, 100ms, 1h, "must be 100 ms to 1 h");
  time("open_timeout", options.open_timeout, 1ms, 1h, "must be 1 ms to 1 h");
  time("close_timeout", options.close_timeout, 0ms, 1h, "must be 0 to 1 h");
  number("batch", options.batch, 10'000, "must be 1 to 10000 rows");
  number("window", options.window, 100'000, "must be 1 to 100000 messages");
  number("window_bytes", options.window_bytes, std::size_t{1} << 40, "must be 1 byte to 1 TiB");
  check_bounds("attempts_max", options.attempts_max, 1, 1000, "must be 1 to 1000", options.attempts_max);
}

}  // namespace

struct Relay::State {
  State(std::shared_ptr<Store> store, std::shared_ptr<Transport> transport, RelayOptions options)
      : loop(std::move(store), std::move(transport), std::move(options)) {}

  relay::Loop loop;

  std::mutex mutex;  // of everything below; never held while the loop runs
  std::condition_variable changed;
  std::thread::id runner;    // who is inside the loop, if anybody
  std::size_t sweepers = 0;  // threads that wait for their turn
  bool started = false;
  bool stopping = false;
  bool draining = false;  // somebody is about to
  bool closed = false;    // drained
  std::thread thread;

  bool inside() const { return runner == std::this_thread::get_id(); }

  // Runs `work` as the only one inside the loop.
  template <class Work>
  auto run(std::unique_lock<std::mutex>& lock, Work work) {
    changed.wait(lock, [&] { return runner == std::thread::id{}; });
    runner = std::this_thread::get_id();
    lock.unlock();
    struct Leave {
      State& state;
      std::unique_lock<std::mutex>& lock;
      ~Leave() {
        lock.lock();
        state.runner = {};
        state.changed.notify_all();
      }
    } leave{*this, lock};
    return work();
  }

  void run_until_stopped() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      run(lock, [&] { loop.round(); });
      changed.wait(lock, [&] { return sweepers == 0 || stopping; });
    }
    drain(lock);
  }

  void drain(std::unique_lock<std::mutex>& lock) {
    run(lock, [&] { loop.drain(); });
    closed = true;
    changed.notify_all();
  }
};

Relay::Relay(std::shared_ptr<Store> store, std::shared_ptr<Transport> transport, RelayOptions options) {
  if (!store) throw InvalidConfiguration("store", "must not be null", "nullptr");
  if (!transport) throw InvalidConfiguration("transport", "must not be null", "nullptr");
  check(options);
  state_ = std::make_unique<State>(std::move(store), std::move(transport), std::move(options));
}

Relay::~Relay() {
  try {
    close();
  } catch (...) {  // what was not marked is sent again
  }
}

std::size_t Relay::sweep() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  if (state.inside()) throw std::logic_error("sweep() was called inside a callback of the same relay");
  if (state.stopping) throw std::logic_error("sweep() was called after close()");
  ++state.sweepers;
  state.loop.interrupt();
  struct Leave {
    State& state;
    ~Leave() {
      --state.sweepers;
      state.changed.notify_all();
    }
  };
  const Leave leave{state};  // runs under the lock
  return state.run(lock, [&] { return state.loop.sweep(); });
}

void Relay::start() {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (state.stopping) throw std::logic_error("start() was called after close()");
  if (std::exchange(state.started, true)) return;
  state.thread = std::thread([&state] { state.run_until_stopped(); });
}

void Relay::wake() noexcept { state_->loop.wake(); }

void Relay::close() {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  state.stopping = true;
  state.loop.stop();
  state.changed.notify_all();
  if (state.inside()) return;  // the loop sees it when the callback has returned
  if (!state.started && !std::exchange(state.draining, true)) state.drain(lock);
  state.changed.wait(lock, [&] { return state.closed; });
  std::thread thread = std::exchange(state.thread, {});
  lock.unlock();
  if (thread.joinable()) thread.join();
}

RelayStats Relay::stats() const { return state_->loop.stats(); }

}  // namespace acemq::outbox
