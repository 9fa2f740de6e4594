// What somebody typed, as plain values: one struct per subcommand.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/commands/add.hpp"
#include "app/commands/init.hpp"
#include "app/commands/relay.hpp"
#include "app/commands/status.hpp"
#include "app/commands/sweep.hpp"
#include "app/commands/version.hpp"
#include "app/settings.hpp"

namespace acemq::app {

struct HelpArguments {
  std::string text = {};
};
int run(const HelpArguments& arguments, Output& output);

using Command =
    std::variant<HelpArguments, InitArguments, AddArguments, RelayArguments, SweepArguments, StatusArguments, VersionArguments>;

struct CommandLine {
  Command command;
  bool json = false;
};

// `arguments` without the program's name. Throws CommandFailure.
CommandLine parse_command_line(std::vector<std::string> arguments, Settings::Environment environment);

}  // namespace acemq::app
