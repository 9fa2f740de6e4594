// The relay's log: one line an event, to standard error.
//
//   time=2026-01-02T03:04:05.678901Z level=info event=running broker=mq.example:5672/%2f
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/clock.hpp"
#include "acemq/headers.hpp"

namespace acemq::app {

// The numbers are syslog's.
enum class Level { error = 3, warning = 4, info = 6 };

enum class LogForm {
  plain,    // logfmt
  journal,  // logfmt behind <level>, without time and level: the journal has both
  json,     // an object a line
};

// Thread-safe. A line is written by one call, and what cannot be written is lost: a relay goes on without its log.
class Log {
 public:
  // `out` and `clock` must outlive it.
  Log(std::FILE* out, LogForm form, const Clock& clock) : out_(out), form_(form), clock_(clock) {}
  void write(Level level, std::string_view event, const Headers& fields = {});

 private:
  std::string line(Level level, std::string_view event, const Headers& fields) const;

  std::FILE* const out_;
  const LogForm form_;
  const Clock& clock_;
};

// The journal reads standard error directly when it says so in the environment (JOURNAL_STREAM=device:inode).
bool is_journal(std::FILE* out, const char* journal_stream);

// Lets a few lines a minute and cause through, and counts the rest: an outage must not flood a log.
class LogLimiter {
 public:
  explicit LogLimiter(const Clock& clock) : clock_(clock) {}
  // Whether to write a line about `cause` now: nothing, or how many lines were left out since the last one.
  std::optional<std::uint64_t> admit(const std::string& cause);
  // All that were left out and not told yet.
  std::uint64_t take_left_out();

  static constexpr std::chrono::minutes kWindow{1};
  static constexpr unsigned kLinesMax = 8;  // so that a minute that overlaps two windows has fewer than 20
  static constexpr std::size_t kCausesMax = 100;

 private:
  struct Cause {
    std::chrono::nanoseconds window_began{0};
    unsigned lines = 0;
    std::uint64_t left_out = 0;
  };
  const Clock& clock_;
  std::map<std::string, Cause> causes_;
};

}  // namespace acemq::app
