// Instants as outbox tables hold them: text in UTC with six digits of fraction (CONTRACT 2.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "acemq/clock.hpp"

namespace acemq::base {

std::string format_iso(Timestamp time);    // 2026-01-02T03:04:05.678901Z, 27 characters for years 0000 to 9999
std::string format_rails(Timestamp time);  // 2026-01-02 03:04:05.678901, 26 characters
// Reads every form that siblings write: T or space, zero to nine digits of fraction (cut to six), Z, +HH, +HHMM, +HH:MM,
// " +0000 UTC", or no zone, which means UTC; an integer is epoch milliseconds. Nothing for anything else.
std::optional<Timestamp> parse_timestamp(std::string_view text);

}  // namespace acemq::base
