// How a command fails: an exit code, one line that says what is wrong, and a hint where one helps.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace acemq::app {

// Exit codes; documented in docs/guide/program.md and --help. Ended by a signal before its work was done: 128 + the signal.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;      // the database, a file, or the output
inline constexpr int kUsage = 2;       // the command line, a setting, or the record that was given; nothing was done
inline constexpr int kConflict = 3;    // another record with this id is stored
inline constexpr int kBroker = 4;      // sweep: a message did not go out
inline constexpr int kUndrained = 75;  // relay: the time for outstanding confirms ran out

class CommandFailure : public std::runtime_error {
 public:
  CommandFailure(int exit_code, const std::string& what, std::string hint = {})
      : std::runtime_error(what), exit_code_(exit_code), hint_(std::move(hint)) {}
  int exit_code() const noexcept { return exit_code_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  int exit_code_;
  std::string hint_;
};

struct Explanation {
  int exit_code = kFailed;
  std::string words;  // one line
  std::string hint;   // may be empty
};

// What to tell of an exception, ours or the library's. No secret is in it.
Explanation explain(const std::exception& error);

}  // namespace acemq::app
