#include "app/log.hpp"

#include <string>
#include <utility>

#include <sys/stat.h>

#include "app/output.hpp"
#include "base/timestamp.hpp"
#include "base/utf8.hpp"
#include "message/headers_json.hpp"

namespace acemq::app {
namespace {

constexpr std::size_t kValueCharactersMax = 500;

std::string_view to_string(Level level) {
  switch (level) {
    case Level::error:
      return "error";
    case Level::warning:
      return "warning";
    case Level::info:
      return "info";
  }
  return "unknown";
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

std::string bounded(const std::string& value) {
  const std::string text = base::to_storable_text(std::string_view(value).substr(0, 4 * kValueCharactersMax));
  return std::string(base::utf8_prefix(text, kValueCharactersMax));
}

// Quoted as JSON has it where it must be, so that no value can forge a line or a field.
std::string logfmt(const HeaderValue& value) {
  if (const std::string* text = value.as_string(); text != nullptr && !needs_quotes(*text)) return *text;
  const std::string json = message::to_json({{"", value}});  // {"":…}
  return json.substr(4, json.size() - 5);
}

Headers bounded(const Headers& fields) {
  Headers result;
  for (const auto& [name, value] : fields) {
    const std::string* text = value.as_string();
    result.set(name, text != nullptr ? HeaderValue(bounded(*text)) : value);
  }
  return result;
}

}  // namespace

void Log::write(Level level, std::string_view event, const Headers& fields) {
  const std::string text = line(level, event, bounded(fields)) + "\n";
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
}

std::string Log::line(Level level, std::string_view event, const Headers& fields) const {
  Headers all;
  if (form_ != LogForm::journal) {
    all.set("time", base::format_iso(clock_.now()));
    all.set("level", to_string(level));
  }
  all.set("event", event);
  for (const auto& [name, value] : fields) all.set(name, value);
  if (form_ == LogForm::json) return to_json_line(all);

  std::string text = form_ == LogForm::journal ? "<" + std::to_string(static_cast<int>(level)) + ">" : std::string();
  for (const auto& [name, value] : all) {
    if (!text.empty() && text.back() != '>') text += ' ';
    text += name + "=" + logfmt(value);
  }
  return text;
}

bool is_journal(std::FILE* out, const char* journal_stream) {
  struct stat status {};
  if (journal_stream == nullptr || fstat(fileno(out), &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == journal_stream;
}

std::optional<std::uint64_t> LogLimiter::admit(const std::string& cause) {
  const auto now = clock_.since_boot();
  const bool known = causes_.contains(cause);
  Cause& entry = causes_[known || causes_.size() < kCausesMax ? cause : std::string()];
  if (entry.lines == 0 || now - entry.window_began >= kWindow) {
    entry.window_began = now;
    entry.lines = 0;
  }
  if (entry.lines >= kLinesMax) {
    ++entry.left_out;
    return std::nullopt;
  }
  ++entry.lines;
  return std::exchange(entry.left_out, 0);
}

std::uint64_t LogLimiter::take_left_out() {
  std::uint64_t total = 0;
  for (auto& [name, cause] : causes_) total += std::exchange(cause.left_out, 0);
  return total;
}

}  // namespace acemq::app
