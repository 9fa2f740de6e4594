// What the relay reports, as log lines: each change for better or worse once, failures a few times a minute and cause.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "acemq/clock.hpp"
#include "acemq/observer.hpp"
#include "app/log.hpp"

namespace acemq::app {

class RelayLog final : public Observer {
 public:
  // Both must outlive it.
  RelayLog(Log& log, const Clock& clock) : log_(log), clock_(clock), limiter_(clock) {}

  void on_state(RelayState state, std::string_view reason) override;
  void on_failed(const FailureReport& report) override;
  void on_conflict(std::uint64_t rows) override;

 private:
  void write_limited(const std::string& cause, Level level, std::string_view event, Headers fields);
  void recovered();

  Log& log_;
  const Clock& clock_;
  LogLimiter limiter_;
  std::optional<std::chrono::nanoseconds> trouble_since_;  // since when nothing goes out
};

}  // namespace acemq::app
