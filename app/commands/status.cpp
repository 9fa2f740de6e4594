#include "app/commands/status.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "acemq/clock.hpp"
#include "app/database.hpp"
#include "app/failure.hpp"
#include "base/timestamp.hpp"

namespace acemq::app {
namespace {

using std::chrono::seconds;

// 3 s, 2 m 5 s, 4 h 0 m, 12 d 3 h: the two units that matter.
std::string age_in_words(seconds age) {
  const auto count = age.count();
  if (count < 60) return fmt::format("{} s", count);
  if (count < 3600) return fmt::format("{} m {} s", count / 60, count % 60);
  if (count < 86400) return fmt::format("{} h {} m", count / 3600, count / 60 % 60);
  return fmt::format("{} d {} h", count / 86400, count / 3600 % 24);
}

}  // namespace

int run(const StatusArguments& arguments, Output& output) {
  if (arguments.attempts_max < 1 || arguments.attempts_max > 1000) {  // the bounds of a relay
    throw CommandFailure(kUsage, fmt::format("--attempts must be 1 to 1000; given: {}", arguments.attempts_max));
  }
  const Database database = parse_database(arguments.db);
  const auto backlog = open_store(database, arguments.table)->backlog(arguments.attempts_max);
  if (!backlog) throw CommandFailure(kFailed, "this kind of database cannot be asked for its backlog");

  // Clocks of two machines may differ.
  const auto age = [&](Timestamp oldest) {
    return std::max(seconds{0}, std::chrono::floor<seconds>(system_clock().now() - oldest));
  };
  const std::string oldest = backlog->oldest ? age_in_words(age(*backlog->oldest)) : "-";
  const std::uint64_t ready = backlog->pending - backlog->waiting - backlog->leased - backlog->retired;
  output.result(fmt::format("pending  {}\n  ready    {}\n  waiting  {}\n  leased   {}\n  retired  {}\noldest   {}",
                            backlog->pending, ready, backlog->waiting, backlog->leased, backlog->retired, oldest),
                {{"db", describe(database)},
                 {"table", arguments.table},
                 {"pending", backlog->pending},
                 {"ready", ready},
                 {"waiting", backlog->waiting},
                 {"leased", backlog->leased},
                 {"retired", backlog->retired},
                 {"oldest", backlog->oldest ? HeaderValue(base::format_iso(*backlog->oldest)) : HeaderValue()},
                 {"oldest_age_seconds", backlog->oldest ? HeaderValue(age(*backlog->oldest).count()) : HeaderValue()}});
  return kOk;
}

}  // namespace acemq::app
