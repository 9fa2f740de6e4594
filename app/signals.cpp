#include "app/signals.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace acemq::app {
namespace {

sigset_t ours() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

base::Descriptor checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return base::Descriptor(fd);
}

}  // namespace

StopSignals::StopSignals(std::function<void()> on_hangup) : on_hangup_(std::move(on_hangup)) {
  const sigset_t set = ours();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = checked(signalfd(-1, &set, SFD_CLOEXEC), "signalfd");
  end_ = checked(eventfd(0, EFD_CLOEXEC), "eventfd");
  thread_ = std::thread([this] { listen(); });
}

StopSignals::~StopSignals() {
  const std::uint64_t one = 1;
  // It can only fail for a full counter, which wakes the thread as well.
  [[maybe_unused]] const auto written = ::write(end_.get(), &one, sizeof one);
  thread_.join();
  const sigset_t set = ours();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int StopSignals::wait() const noexcept {
  received_.wait(0);
  return received_;
}

void StopSignals::listen() {
  std::array<pollfd, 2> descriptors{
      {{.fd = signals_.get(), .events = POLLIN, .revents = 0}, {.fd = end_.get(), .events = POLLIN, .revents = 0}}};
  while (true) {
    if (::poll(descriptors.data(), descriptors.size(), -1) < 0) continue;  // EINTR; nothing else can happen to two open ones
    if (descriptors[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) == sizeof info) receive(static_cast<int>(info.ssi_signo));
  }
}

void StopSignals::receive(int signal) {
  if (signal == SIGHUP) return on_hangup_();
  // Whoever asks twice does not want to wait: what is in flight is sent again by the next relay once the leases have run out.
  if (received_ != 0) ::_exit(128 + signal);
  received_ = signal;
  received_.notify_all();
}

}  // namespace acemq::app
