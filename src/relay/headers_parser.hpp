#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "acemq/headers.hpp"

namespace acemq::relay {

// Parses the headers column of a row, as any sibling may have written it (CONTRACT 2.2): any valid escape, the last of repeated
// names wins, integers stay integers, an empty text is an empty table. Returns nothing and says why in `reason` for what is no
// JSON object, for NaN or infinity, integers beyond int64 and nesting beyond 32.
std::optional<Headers> parse_headers(std::string_view json, std::string& reason);

}  // namespace acemq::relay
