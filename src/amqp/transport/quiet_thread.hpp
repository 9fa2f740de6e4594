#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace acemq::amqp {

// A thread that takes no signals: those of the process belong to the host's own threads. Throws std::system_error.
template <class Function>
std::thread quiet_thread(Function&& function) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } restore{before};
  return std::thread(std::forward<Function>(function));
}

}  // namespace acemq::amqp
