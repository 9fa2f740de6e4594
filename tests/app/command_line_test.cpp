// What somebody types, rightly or wrongly, through the real program.
#include <string>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "app/program.hpp"

namespace acemq::app::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

using CommandLine = ProgramTest;

// Both ways to ask for the version, and its JSON.
TEST_F(CommandLine, PrintsTheVersion) {
  EXPECT_THAT(acemq({"version"}).out, MatchesRegex("acemq [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(acemq({"--version"}).out, acemq({"version"}).out);
  EXPECT_THAT(acemq({"version", "--json"}).out, StartsWith(R"({"version":")"));
}

// Help goes to standard output, succeeds, and tells exit codes and environment names.
TEST_F(CommandLine, Helps) {
  const Finished all = acemq({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_THAT(all.out, AllOf(HasSubstr("Exit codes:\n  0  done"), HasSubstr(" 75  relay"), HasSubstr("sweep")));
  EXPECT_EQ(all.err, "");
  EXPECT_THAT(acemq({"relay", "--help"}).out,
              AllOf(HasSubstr("--interval"), HasSubstr("[ACEMQ_INTERVAL]"), HasSubstr("[ACEMQ_URL]")));
}

// A wrong word is answered with the nearest right one; one line says what is wrong, a second line helps.
TEST_F(CommandLine, SuggestsTheNearestSpelling) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"stauts"}, "acemq: there is no subcommand stauts\nhint: did you mean status?\n"},
      {{"relay", "--intervall", "1s"}, "acemq: there is no flag --intervall\nhint: did you mean --interval?\n"},
      {{"relay", "--broker", "amqp://h", "--ordering", "steam"},
       "acemq: --ordering must be stream, lane or serial; given: steam\nhint: did you mean stream?\n"},
  };
  for (const auto& [arguments, words] : cases) {
    const Finished run = acemq(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err, words);
    EXPECT_EQ(run.out, "");
  }
}

// A word near none gets the list.
TEST_F(CommandLine, ListsTheSubcommands) {
  EXPECT_THAT(acemq({"frobnicate"}).err, HasSubstr("hint: there are: init, add, relay"));
  EXPECT_THAT(acemq({}).err, HasSubstr("a subcommand is needed"));
}

// Under --json an error is an object, too, on standard error.
TEST_F(CommandLine, TellsErrorsInJson) {
  const Finished run = acemq({"status", "--json", "--db", "shop.db"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(StartsWith(R"({"error":"--db )"), HasSubstr(R"("hint":"as in sqlite:shop.db")"),
                             HasSubstr(R"("exit_code":2)")));
}

// A flag wins over the environment, and each is named when its value is wrong.
TEST_F(CommandLine, FlagsWinOverTheEnvironment) {
  environment = {"ACEMQ_DB=nonsense", "ACEMQ_TABLE=shop_outbox"};
  EXPECT_EQ(acemq({"init", "--db", "sqlite:shop.db"}).exit_code, 0);
  EXPECT_EQ(value("SELECT name FROM sqlite_schema WHERE type = 'table'"), "shop_outbox");
  EXPECT_EQ(acemq({"init", "--db", "sqlite:shop.db", "--table", "outbox2"}).exit_code, 0);
  EXPECT_THAT(query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"), ElementsAre("outbox2", "shop_outbox"));

  environment.emplace_back("ACEMQ_INTERVAL=1");
  const auto relay = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"relay", "--db", "sqlite:shop.db", "--broker", "amqp://h"});
    return acemq(more).err;
  };
  EXPECT_THAT(relay({}), HasSubstr("ACEMQ_INTERVAL must be a whole number with its unit"));
  EXPECT_THAT(relay({"--interval", "1d"}), HasSubstr("--interval must be a whole number with its unit"));
}

// A number outside its bounds is refused with flag, bound and value.
TEST_F(CommandLine, NamesTheBound) {
  acemq({"init"});
  const Finished run = acemq({"sweep", "--broker", "amqp://h", "--batch", "0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--batch must be 1 to 10000 rows; given: 0"));
}

// A needed setting that is nowhere is asked for by both its names.
TEST_F(CommandLine, AsksForWhatIsNeeded) {
  environment.clear();
  EXPECT_THAT(acemq({"status"}).err, HasSubstr("--db (or ACEMQ_DB) is needed"));
  EXPECT_THAT(acemq({"sweep", "--db", "sqlite:shop.db"}).err, HasSubstr("--broker (or ACEMQ_URL) is needed"));
  EXPECT_THAT(acemq({"add", "--db", "sqlite:shop.db", "{}"}).err, HasSubstr("--to"));
}

// However a command line is wrong, a password in it is not repeated.
TEST_F(CommandLine, RepeatsNoPassword) {
  acemq({"init"});
  const std::string url = "amqp://shop:5ecret@127.0.0.1:1/%2f";
  const std::vector<std::vector<std::string>> cases{
      {url},
      {"sweep", url},
      {"sweep", "--brokre=" + url},
      {"sweep", "--broker", url, url},
      {"sweep", "--broker", "amqp://shop:5ecret/@127.0.0.1:1/%2f"},
      {"sweep", "--broker", "ampq://shop:5ecret@127.0.0.1:1/%2f"},
      {"sweep", "--broker", url, "--interval", url},
      {"sweep", "--broker", url, "--batch", url},
      {"sweep", "--broker", url, "--db", url},
      {"shop:5ecret@h"},
      {"status", "--db", "shop:5ecret@h"},
      {"status", "--db=amqp:shop:5ecret@h"},
      {"status", "--db", "amqp://shop:5 5ecret@h"},
      {"status", "--attempts", "shop:5ecret://5ecret@h"},
      {"status", "--json=shop:5ecret@h"},
      {"add", "--to", "k", "--header", "amqp://shop:5ecret@h", "{}"},
  };
  for (const auto& arguments : cases) {
    const Finished run = acemq(arguments);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(arguments);
    EXPECT_THAT(run.out + run.err, Not(HasSubstr("5ecret")));
  }
}

// A value of any length is repeated in a line of bounded length.
TEST_F(CommandLine, BoundsWhatItRepeats) {
  const std::string huge(100'000, 'x');
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{huge},
                                                    {"status", huge},
                                                    {"status", "--" + huge},
                                                    {"status", "--db", huge},
                                                    {"status", "--attempts", huge},
                                                    {"sweep", "--broker", "amqp://h", "--ordering", huge},
                                                    {"add", "--to", "k", "--header", huge, "{}"}}) {
    const Finished run = acemq(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_LT(run.err.size(), 500U) << run.err;
  }
}

// A flag that would be right behind the subcommand is not answered with its own name.
TEST_F(CommandLine, SaysWhereAFlagStands) {
  const Finished run = acemq({"--json", "status"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--json stands before the subcommand"), HasSubstr("acemq status --json")));
}

// An empty value, as from a script's unset variable, is refused where it would change what the command does.
TEST_F(CommandLine, RefusesEmptyValues) {
  acemq({"init"});
  EXPECT_EQ(acemq({"init", "--db", ""}).exit_code, 2);
  EXPECT_EQ(acemq({"status", "--attempts", ""}).exit_code, 2);
  const Finished run = acemq({"add", "--to", "k", "--id", "", "{}"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--id"));
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "0");
}

// What is printed to a closed stream reaches no file or socket that was opened later, and is an error.
TEST_F(CommandLine, ClosedStreamsStayClosed) {
  acemq({"init"});
  const auto shell = [&](const std::string& arguments) {
    return Program({"/bin/sh", "-c", "'" ACEMQ_PROGRAM "' " + arguments}, here()).finish();
  };
  EXPECT_EQ(shell("status >&-").exit_code, 1);
  EXPECT_EQ(shell("add --to k - <&-").exit_code, 1);
  EXPECT_EQ(shell("status >&- 2>&- <&-").exit_code, 1);

  // A relay that has reached for a broker has a socket; its log does not go there.
  const base::Descriptor broker(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(broker.get(), any, size) + ::listen(broker.get(), 1) + ::getsockname(broker.get(), any, &size), 0);
  const std::string url = "amqp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Program relay({"/bin/sh", "-c", "exec '" ACEMQ_PROGRAM "' relay --broker " + url + " 2>&-"}, here());
  pollfd connecting{broker.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&connecting, 1, 60'000), 1);
  EXPECT_EQ(std::filesystem::read_symlink("/proc/" + std::to_string(relay.pid()) + "/fd/2"), "/dev/null");
}

// Output that could not be written is a failure.
TEST_F(CommandLine, FailsOnAFullDisk) {
  const Finished run = Program({"/bin/sh", "-c", "'" ACEMQ_PROGRAM "' version > /dev/full"}).finish();
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace acemq::app::testing
