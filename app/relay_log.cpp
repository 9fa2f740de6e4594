#include "app/relay_log.hpp"

#include <utility>

namespace acemq::app {
namespace {

void set_if_any(Headers& fields, const char* name, std::string_view value) {
  if (!value.empty()) fields.set(name, value);
}

}  // namespace

void RelayLog::on_state(RelayState state, std::string_view reason) {
  switch (state) {
    case RelayState::connecting:
      if (!trouble_since_) write_limited("connecting", Level::info, "connecting", {{"broker", reason}});
      return;
    case RelayState::running:
      return trouble_since_ ? recovered() : log_.write(Level::info, "running");
    case RelayState::blocked:
    case RelayState::waiting: {
      if (trouble_since_) return;
      trouble_since_ = clock_.since_boot();
      Headers fields;
      set_if_any(fields, "reason", reason);
      return write_limited("trouble", Level::warning, to_string(state), fields);
    }
    case RelayState::closing:
    case RelayState::stopped:
      return;  // the program knows, and says more
  }
}

void RelayLog::recovered() {
  const auto lasted = std::chrono::floor<std::chrono::seconds>(clock_.since_boot() - *trouble_since_);
  trouble_since_.reset();
  Headers fields{{"after_seconds", lasted.count()}};
  if (const auto left_out = limiter_.take_left_out(); left_out != 0) fields.set("lines_left_out", left_out);
  write_limited("recovered", Level::info, "recovered", std::move(fields));
}

void RelayLog::on_failed(const FailureReport& report) {
  const Failure& failure = report.failure;
  Headers fields{{"class", to_string(failure.failure_class)}, {"reason", failure.reason}};
  if (failure.code != 0) fields.set("code", failure.code);
  set_if_any(fields, "broker_says", failure.server_text);
  if (!report.id.empty()) {
    fields.set("id", report.id);
    fields.set("exchange", report.exchange);
    fields.set("routing_key", report.routing_key);
    fields.set("attempts", report.attempts);
    if (!report.retired) fields.set("next_attempt_ms", report.wait.count());
  }
  const std::string_view event = report.retired ? "retired" : "failed";
  const std::string cause =
      std::string(event) + " " + std::string(to_string(failure.failure_class)) + " " + std::to_string(failure.code);
  write_limited(cause, report.retired ? Level::error : Level::warning, event, std::move(fields));
}

void RelayLog::on_conflict(std::uint64_t rows) {
  write_limited("conflict", Level::warning, "conflict",
                {{"rows", rows}, {"reason", "another relay had taken them: their lease had run out"}});
}

void RelayLog::write_limited(const std::string& cause, Level level, std::string_view event, Headers fields) {
  const auto left_out = limiter_.admit(cause);
  if (!left_out) return;
  if (*left_out != 0) fields.set("lines_left_out", *left_out);
  log_.write(level, event, fields);
}

}  // namespace acemq::app
