#include "app/commands/sweep.hpp"

#include <exception>
#include <memory>

#include <fmt/format.h>

#include "acemq/amqp.hpp"
#include "app/database.hpp"
#include "app/failure.hpp"
#include "app/signals.hpp"

namespace acemq::app {

int run(const SweepArguments& arguments, Output& output) {
  StopSignals signals([] {});
  const auto broker = std::make_shared<AmqpTransport>(arguments.broker);
  const Database database = parse_database(arguments.db);
  outbox::Relay relay(open_store(database, arguments.table), broker, arguments.relay);

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
  output.result(fmt::format("published {} to {}{}", published, broker->description(), stopped ? ", then stopped" : ""),
                {{"published", published}, {"broker", broker->description()}, {"complete", !failure && !stopped}});
  if (failure) std::rethrow_exception(failure);
  return stopped ? 128 + signals.received() : kOk;
}

}  // namespace acemq::app
