// How a command fails: an exit code, one line that says what is wrong, and a hint where one helps.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace acemq::app {

// Documented in docs/guide/program.md and --help. Ended by a signal before its work was done: 128 + the signal.
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,     // the database, a file, or the output
  kUsage = 2,      // the command line, a setting, or the record that was given; nothing was done
  kConflict = 3,   // another record with this id is stored
  kBroker = 4,     // sweep: a message did not go out
  kUndrained = 75  // relay: the time for outstanding confirms ran out
};

class CommandFailure : public std::runtime_error {
 public:
  CommandFailure(ExitCode exit_code, const std::string& what, std::string hint = {})
      : std::runtime_error(what), exit_code_(exit_code), hint_(std::move(hint)) {}
  ExitCode exit_code() const noexcept { return exit_code_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ExitCode exit_code_;
  std::string hint_;
};

struct Explanation {
  ExitCode exit_code = kFailed;
  std::string words;  // one line
  std::string hint;   // may be empty
};

// What to tell of an exception, ours or the library's. No secret is in it.
Explanation explain(const std::exception& error);

}  // namespace acemq::app
