// A relay as a process of its own, until it is told to stop (SIGTERM, or Ctrl-C). The program `acemq relay` does the same and
// more; this is the whole of it, for a process that you write yourself.
//
//   relay_process shop.db amqp://guest:guest@localhost/%2f
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>

#include <acemq/amqp.hpp>
#include <acemq/outbox/relay.hpp>
#include <acemq/sqlite_store.hpp>

int main(int count, char** arguments) try {
  const std::span words(arguments, static_cast<std::size_t>(count));
  if (words.size() != 3) throw std::invalid_argument("usage: relay_process DATABASE URL");

  // Blocked here, before any thread is started, so that every thread inherits it and sigwait() alone sees the signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  acemq::outbox::RelayOptions options;
  options.interval = std::chrono::milliseconds(100);  // nobody in this process calls wake()
  options.on_error = [](const acemq::FailureReport& report) {
    std::cerr << to_string(report.failure.failure_class) << ": " << report.failure.reason << ' ' << report.id << '\n';
  };
  const auto store = std::make_shared<acemq::SqliteStore>(words[1]);
  const auto broker = std::make_shared<acemq::AmqpTransport>(words[2]);
  acemq::outbox::Relay relay{store, broker, options};
  relay.start();

  int signal = 0;
  sigwait(&signals, &signal);
  relay.close();  // waits for what is on its way, marks it, gives back the rest
  std::cout << "published " << relay.stats().published << '\n';
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
