// sweep and relay without RabbitMQ: against nobody, and against a broker of our own that misbehaves on request.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "amqp/scripted_broker.hpp"
#include "app/program.hpp"

namespace acemq::app::testing {
namespace {

using amqp::Listener;
using amqp::ScriptedBroker;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class Publishing : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(acemq({"init"}).exit_code, 0); }

  void add(int rows) const {
    for (int i = 0; i < rows; ++i) ASSERT_EQ(acemq({"add", "--to", "orders", "{}"}).exit_code, 0);
  }
  std::string leased() const { return value("SELECT count(*) FROM acemq_outbox WHERE locked_by IS NOT NULL"); }
  std::string published() const { return value("SELECT count(*) FROM acemq_outbox WHERE published_at IS NOT NULL"); }
  // `acemq relay --broker url arguments…`, running.
  std::unique_ptr<Program> relay(const std::string& url, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"relay", "--broker", url});
    return std::make_unique<Program>(command(std::move(arguments)), here());
  }
  // A URL with a password, of a port at which nobody listens.
  static std::string nobody() {
    Listener listener;
    listener.close();
    return "amqp://shop:5ecret@" + listener.endpoint() + "/%2f";
  }
};

std::string command_line_of(pid_t pid) {
  std::ostringstream text;
  text << std::ifstream("/proc/" + std::to_string(pid) + "/cmdline").rdbuf();
  return text.str();
}

// --- sweep ---

// Without a broker: its own exit code, a hint, no password, and the row is free again at once.
TEST_F(Publishing, SweepWithoutABroker) {
  add(1);
  for (const bool json : {false, true}) {
    std::vector<std::string> arguments{"sweep", "--broker", nobody()};
    if (json) arguments.emplace_back("--json");
    const Finished run = acemq(arguments);
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_THAT(run.out, HasSubstr(json ? R"("published":0)" : "published 0 to 127.0.0.1:"));
    EXPECT_THAT(run.err, AllOf(HasSubstr("Connection refused"), HasSubstr("hint"), HasSubstr("ACEMQ_URL")));
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("5ecret")));
  }
  EXPECT_EQ(leased(), "0");
}

// A login that is refused says so, with another hint.
TEST_F(Publishing, SweepWithAWrongPassword) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.login_refusal = 403; });
  const Finished run = acemq({"sweep", "--broker", broker.url()});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.err, AllOf(HasSubstr("login refused"), HasSubstr("check user, password and vhost"), Not(HasSubstr("5ecret"))));
}

// One batch, or all of them.
TEST_F(Publishing, SweepPublishesABatchOrAll) {
  add(5);
  ScriptedBroker broker;
  environment.push_back("ACEMQ_URL=" + broker.url());
  const Finished one = acemq({"sweep", "--batch", "2"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, "published 2 to " + broker.endpoint() + "/%2F; 3 pending: 0 waiting, 0 leased, 0 retired\n");
  EXPECT_EQ(published(), "2");

  const Finished all = acemq({"sweep", "--batch", "2", "--all", "--json"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr(R"({"published":3,)"));
  EXPECT_EQ(published(), "5");
}

// A message that the broker refuses: counted, with the broker's words; what went out before it is told.
TEST_F(Publishing, SweepTellsWhatWentOutBeforeAFailure) {
  add(1);
  acemq({"add", "--exchange", "nix", "--to", "x", "{}"});
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.missing_exchanges = {"nix"}; });
  const Finished run = acemq({"sweep", "--broker", broker.url()});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_THAT(run.out, HasSubstr("published 1 to"));
  EXPECT_THAT(run.err, AllOf(HasSubstr("no such exchange 'nix'"), HasSubstr("hint: declare the exchange")));
  EXPECT_EQ(value("SELECT attempts FROM acemq_outbox WHERE exchange_name = 'nix'"), "1");
}

// A signal ends sweep --all between two batches: what is out is marked, the rest is free, and the exit code tells.
TEST_F(Publishing, SweepAllStopsBetweenBatches) {
  constexpr int kRows = 30;
  add(kRows);
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.reads = false; });
  Program program(command({"sweep", "--all", "--batch", "1", "--broker", broker.url()}), here());
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.connections == 1; }));
  program.signal(SIGTERM);
  broker.behave([](auto& behaviour) { behaviour.reads = true; });
  const Finished run = program.finish();
  EXPECT_EQ(run.exit_code, 128 + SIGTERM);
  EXPECT_THAT(run.out, AllOf(HasSubstr("published " + published() + " to "), HasSubstr(", then stopped")));
  EXPECT_EQ(published(), std::to_string(broker.seen().messages));
  EXPECT_LT(broker.seen().messages, std::size_t{kRows});
  EXPECT_EQ(leased(), "0");
}

// --- relay ---

// Rows are published, also those that another process adds while it runs; the end is orderly, with a summary.
TEST_F(Publishing, RelayUntilASignal) {
  add(2);
  ScriptedBroker broker;
  const auto program = relay(broker.url(), {"--interval", "10ms"});
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 2; }));
  add(1);
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 3; }));
  program->signal(SIGTERM);
  const Finished run = program->finish();
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, AllOf(HasSubstr("level=info event=running"), HasSubstr("event=stopping signal=SIGTERM"),
                             HasSubstr("event=finished published=3 "), Not(HasSubstr("5ecret"))));
  EXPECT_EQ(published(), "3");
}

// With --json each line of the log is an object.
TEST_F(Publishing, RelayLogsJson) {
  ScriptedBroker broker;
  const auto program = relay(broker.url(), {"--json"});
  ASSERT_TRUE(program->says(R"("event":"running")"));
  program->signal(SIGINT);
  const Finished run = program->finish();
  EXPECT_EQ(run.exit_code, 0);
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, AllOf(::testing::StartsWith(R"({"time":")"), HasSubstr(R"("level":")"), EndsWith("}")));
  }
}

// The password in --broker is gone from the list of processes, in both spellings of the flag.
TEST_F(Publishing, RelayHidesThePasswordInItsTitle) {
  const std::string url = nobody();
  for (const std::vector<std::string>& broker : {std::vector<std::string>{"--broker", url}, {"--broker=" + url}}) {
    std::vector<std::string> arguments{"relay"};
    arguments.insert(arguments.end(), broker.begin(), broker.end());
    Program program(command(arguments), here());
    ASSERT_TRUE(program.says("event=started"));
    EXPECT_THAT(command_line_of(program.pid()),
                AllOf(HasSubstr("relay"), HasSubstr("amqp://***"), HasSubstr("@127.0.0.1:"), Not(HasSubstr("5ecret"))));
    program.signal(SIGTERM);
    EXPECT_THAT(program.finish().err, Not(HasSubstr("5ecret")));
  }
}

// B53: without a broker a stop is clean and prompt: nothing is in flight.
TEST_F(Publishing, B53_RelayStopsWithoutABroker) {
  add(3);
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto program = relay(nobody());
    ASSERT_TRUE(program->says("event=failed class=outage"));
    program->signal(signal);
    const Finished run = program->finish();
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.err, HasSubstr("event=finished published=0 "));
  }
  EXPECT_EQ(leased(), "0");
}

// The same at a broker that accepts the connection and says nothing.
TEST_F(Publishing, B53_RelayStopsWhileItConnects) {
  const Listener silent;
  const auto program = relay("amqp://" + silent.endpoint());
  ASSERT_TRUE(program->says("event=connecting"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
}

// SIGHUP is ignored, and the log says so.
TEST_F(Publishing, B53_HangupIsIgnored) {
  ScriptedBroker broker;
  const auto program = relay(broker.url());
  ASSERT_TRUE(program->says("event=running"));
  program->signal(SIGHUP);
  ASSERT_TRUE(program->says("event=hangup_ignored"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
}

// A drain waits for outstanding confirms only so long: then it gives the rows back and says so by its exit code.
TEST_F(Publishing, B53_DrainThatRunsOutOfTimeHasAnExitCode) {
  add(2);
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.confirms = false; });
  const auto program = relay(broker.url(), {"--close-timeout", "10ms"});
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 2; }));
  program->signal(SIGTERM);
  const Finished run = program->finish();
  EXPECT_EQ(run.exit_code, 75);
  EXPECT_THAT(run.err, AllOf(HasSubstr("level=warning event=finished_undrained"), HasSubstr("unanswered=2")));
  EXPECT_EQ(leased(), "0");
  EXPECT_EQ(published(), "0");
}

// Whoever sends a second signal does not want to wait for the drain: 128 and its number.
TEST_F(Publishing, B53_SecondSignalEndsAtOnce) {
  add(1);
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.confirms = false; });
  const auto program = relay(broker.url(), {"--close-timeout", "1h"});
  ASSERT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 1; }));
  program->signal(SIGTERM);
  ASSERT_TRUE(program->says("event=stopping"));
  program->signal(SIGINT);
  const Finished run = program->finish();
  EXPECT_EQ(run.exit_code, 128 + SIGINT);
  EXPECT_THAT(run.err, Not(HasSubstr("event=finished")));
}

// A broker that comes back is told in one line.
TEST_F(Publishing, RelayTellsOfRecovery) {
  ScriptedBroker broker;
  broker.behave([](auto& behaviour) { behaviour.resets = true; });
  const auto program = relay(broker.url());
  ASSERT_TRUE(program->says("event=waiting"));
  broker.behave([](auto& behaviour) { behaviour.resets = false; });
  ASSERT_TRUE(program->says("event=recovered after_seconds="));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
}

// Giving up the check that a message was routed is never silent.
TEST_F(Publishing, RelayWarnsWithoutMandatory) {
  ScriptedBroker broker;
  const auto program = relay(broker.url(), {"--without-mandatory", "delayed"});
  EXPECT_TRUE(program->says("level=warning event=without_mandatory exchange=delayed"));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
}

// A log that nobody reads any more does not end the relay.
TEST_F(Publishing, RelayOutlivesItsLog) {
  ScriptedBroker broker;
  const auto program = relay(broker.url(), {"--interval", "10ms"});
  ASSERT_TRUE(program->says("event=running"));
  program->stop_listening();
  program->signal(SIGHUP);  // writes a line
  acemq({"add", "--exchange", "", "--to", "orders", "{}"});
  EXPECT_TRUE(broker.wait_until([](const auto& seen) { return seen.messages == 1; }));
  program->signal(SIGTERM);
  EXPECT_EQ(program->finish().exit_code, 0);
}

}  // namespace
}  // namespace acemq::app::testing
