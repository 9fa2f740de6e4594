#include "app/commands/sweep.hpp"

#include <exception>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "acemq/amqp.hpp"
#include "app/database.hpp"
#include "app/failure.hpp"
#include "app/signals.hpp"

namespace acemq::app {
namespace {

// Nothing sent is not nothing left: rows may wait after a failure, be in the hands of another relay, or be given up.
std::string in_words(const outbox::Backlog& left) {
  if (left.pending == 0) return {};
  return fmt::format("; {} pending: {} waiting, {} leased, {} retired", left.pending, left.waiting, left.leased, left.retired);
}

// What went out has gone out, whether or not the rest can be counted now.
outbox::Backlog backlog_of(outbox::Store& store, std::int32_t attempts_max) {
  try {
    return store.backlog(attempts_max).value_or(outbox::Backlog{});
  } catch (const StoreError&) {
    return {};
  }
}

}  // namespace

int run(const SweepArguments& arguments, Output& output) {
  StopSignals signals([] {});
  const auto broker = std::make_shared<AmqpTransport>(arguments.broker);
  const Database database = parse_database(arguments.db);
  const std::shared_ptr<outbox::Store> store = open_store(database, arguments.table);
  outbox::Relay relay(store, broker, arguments.relay);

  std::exception_ptr failure;
  bool more = true;
  try {
    // A signal ends it between two batches; each is bounded by its deadlines.
    do more = relay.sweep() > 0;
    while (more && arguments.all && signals.received() == 0);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  const bool stopped = more && arguments.all && !failure;
  const auto published = relay.stats().published;
  const outbox::Backlog left = backlog_of(*store, arguments.relay.attempts_max);
  output.result(
      fmt::format("published {} to {}{}{}", published, broker->description(), stopped ? ", then stopped" : "", in_words(left)),
      {{"published", published},
       {"broker", broker->description()},
       {"complete", !failure && !stopped},
       {"pending", left.pending},
       {"waiting", left.waiting},
       {"leased", left.leased},
       {"retired", left.retired}});
  if (failure) std::rethrow_exception(failure);
  return stopped ? 128 + signals.received() : kOk;
}

}  // namespace acemq::app
