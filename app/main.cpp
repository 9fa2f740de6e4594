#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "app/command_line.hpp"
#include "app/failure.hpp"
#include "app/output.hpp"
#include "app/secrets.hpp"

namespace {

using namespace acemq::app;  // NOLINT(google-build-using-namespace): this file is its only user

int run_program(const std::vector<std::string>& arguments) {
  const CommandLine line = parse_command_line(arguments, [](const char* name) { return std::getenv(name); });
  Output output(stdout, line.json);
  const int exit_code = std::visit([&](const auto& command) { return run(command, output); }, line.command);
  output.finish();
  return exit_code;
}

// A socket that got the number of a closed standard stream would be sent what is printed there. The stream stays useless, so
// that writing to it fails.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int report(const std::exception& error, bool json) {
  const Explanation explanation = explain(error);
  Output errors(stderr, json);
  std::string words = "acemq: " + explanation.words;
  if (!explanation.hint.empty()) words += "\nhint: " + explanation.hint;
  errors.result(words, {{"error", explanation.words}, {"hint", explanation.hint}, {"exit_code", explanation.exit_code}});
  return explanation.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  hide_secrets(argc, argv);
  occupy_closed_streams();
  try {
    return run_program(arguments);
  } catch (const std::exception& error) {
    std::fflush(stdout);  // what went well before, above the error
    return report(error, std::find(arguments.begin(), arguments.end(), "--json") != arguments.end());
  }
}
