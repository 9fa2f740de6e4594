#include "app/commands/relay.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "acemq/amqp.hpp"
#include "app/database.hpp"
#include "app/failure.hpp"
#include "app/log.hpp"
#include "app/relay_log.hpp"
#include "app/signals.hpp"

namespace acemq::app {
namespace {

LogForm log_form(const Output& output) {
  if (output.json()) return LogForm::json;
  return is_journal(stderr, std::getenv("JOURNAL_STREAM")) ? LogForm::journal : LogForm::plain;
}

Headers summary(const outbox::RelayStats& stats) {
  return {{"published", stats.published},
          {"refusals", stats.failures(FailureClass::refusal)},
          {"overloads", stats.failures(FailureClass::overload)},
          {"outages", stats.failures(FailureClass::outage)},
          {"in_doubt", stats.failures(FailureClass::in_doubt)},
          {"store_errors", stats.failures(FailureClass::store)},
          {"retired", stats.retired},
          {"resent", stats.resent},
          {"overtaken", stats.overtaken},
          {"conflicts", stats.conflicts},
          {"reconnects", stats.reconnects},
          {"unanswered", stats.unanswered}};
}

}  // namespace

int run(const RelayArguments& arguments, Output& output) {
  std::signal(SIGPIPE, SIG_IGN);  // a log that nobody reads any more is no reason to stop
  Log log(stderr, log_form(output), system_clock());
  const StopSignals signals([&] { log.write(Level::info, "hangup_ignored", {{"reason", "there is nothing to reload"}}); });

  const auto broker = std::make_shared<AmqpTransport>(arguments.broker);
  const Database database = parse_database(arguments.db);
  outbox::RelayOptions options = arguments.relay;
  options.observer = std::make_shared<RelayLog>(log, system_clock());
  outbox::Relay relay(open_store(database, arguments.table), broker, options);

  log.write(
      Level::info, "started",
      {{"version", ACEMQ_VERSION}, {"db", describe(database)}, {"table", arguments.table}, {"broker", broker->description()}});
  for (const std::string& exchange : options.exchanges_without_mandatory) {
    log.write(Level::warning, "without_mandatory",
              {{"exchange", exchange}, {"reason", "a message that no queue takes is lost silently there"}});
  }
  relay.start();
  const int signal = signals.wait();
  log.write(Level::info, "stopping", {{"signal", signal == SIGINT ? "SIGINT" : "SIGTERM"}});
  relay.close();

  const outbox::RelayStats stats = relay.stats();
  const bool clean = stats.unanswered == 0;
  log.write(clean ? Level::info : Level::warning, clean ? "finished" : "finished_undrained", summary(stats));
  return clean ? kOk : kUndrained;
}

}  // namespace acemq::app
