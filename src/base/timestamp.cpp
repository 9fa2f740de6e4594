#include "base/timestamp.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace acemq::base {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// Four digits of year are all that the texts have room for; "the beginning of time" of a caller is cut to the first of them.
constexpr Timestamp kFirst = sys_days(std::chrono::year(0) / 1 / 1);
constexpr Timestamp kLast = Timestamp(sys_days(std::chrono::year(10000) / 1 / 1)) - microseconds(1);

std::string format(Timestamp time, char separator, const char* zone) {
  time = std::clamp(time, kFirst, kLast);
  const sys_days day = std::chrono::floor<days>(time);
  const year_month_day date(day);
  const std::chrono::hh_mm_ss<microseconds> clock(time - day);
  char text[96];  // room for anything that the types could hold
  const int length = std::snprintf(text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d.%06d%s", static_cast<int>(date.year()),
                                   static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), separator,
                                   static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                                   static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()), zone);
  return std::string(text, static_cast<std::size_t>(length));
}

// Reads from the front of a text. A failed read leaves the rest unspecified.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool skip(std::string_view expected) {
    if (rest_.substr(0, expected.size()) != expected) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  // Exactly `digits` digits, at most `max`.
  bool number(int digits, int max, int& value) {
    value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!next_is_digit()) return false;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value <= max;
  }

 private:
  std::string_view rest_;
};

bool scan_date(Scanner& scanner, sys_days& day) {
  int y = 0, m = 0, d = 0;
  if (!scanner.number(4, 9999, y) || !scanner.skip("-") || !scanner.number(2, 12, m) || !scanner.skip("-") ||
      !scanner.number(2, 31, d)) {
    return false;
  }
  const year_month_day date(std::chrono::year(y), std::chrono::month(static_cast<unsigned>(m)),
                            std::chrono::day(static_cast<unsigned>(d)));
  day = date;
  return date.ok();
}

bool scan_fraction(Scanner& scanner, microseconds& fraction) {
  if (!scanner.skip(".")) return true;
  if (!scanner.next_is_digit()) return false;
  int unit = 100'000;  // microseconds that the next digit stands for; 0 from the seventh on
  for (int digits = 0; digits < 9 && scanner.next_is_digit(); ++digits, unit /= 10) {
    int digit = 0;
    scanner.number(1, 9, digit);
    fraction += microseconds(digit * unit);
  }
  return true;
}

bool scan_time(Scanner& scanner, microseconds& time) {
  int h = 0, m = 0, s = 0;
  if (!scanner.number(2, 23, h) || !scanner.skip(":") || !scanner.number(2, 59, m) || !scanner.skip(":") ||
      !scanner.number(2, 59, s)) {
    return false;
  }
  time = hours(h) + minutes(m) + seconds(s);
  return scan_fraction(scanner, time);
}

// No zone means UTC, never local time.
bool scan_zone(Scanner& scanner, minutes& offset) {
  if (scanner.at_end() || scanner.skip("Z")) return scanner.at_end();
  const bool spaced = scanner.skip(" ");
  const bool west = scanner.skip("-");
  if (!west && !scanner.skip("+")) return false;
  int h = 0, m = 0;
  if (!scanner.number(2, 23, h)) return false;
  if ((scanner.skip(":") || scanner.next_is_digit()) && !scanner.number(2, 59, m)) return false;
  if (spaced) scanner.skip(" UTC");
  offset = (hours(h) + minutes(m)) * (west ? -1 : 1);
  return scanner.at_end();
}

std::optional<Timestamp> from_milliseconds(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 1000;
  if (error != std::errc() || end != text.data() + text.size() || value > kMax || value < -kMax) return std::nullopt;
  return Timestamp(std::chrono::milliseconds(value));
}

}  // namespace

std::string format_iso(Timestamp time) { return format(time, 'T', "Z"); }

std::string format_rails(Timestamp time) { return format(time, ' ', ""); }

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  if (const auto time = from_milliseconds(text)) return time;
  Scanner scanner(text);
  sys_days day;
  microseconds time{0};
  minutes offset{0};
  if (!scan_date(scanner, day) || !(scanner.skip("T") || scanner.skip(" ")) || !scan_time(scanner, time) ||
      !scan_zone(scanner, offset)) {
    return std::nullopt;
  }
  return Timestamp(day) + time - offset;
}

}  // namespace acemq::base
