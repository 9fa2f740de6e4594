#pragma once

#include <string>

#include "acemq/headers.hpp"

namespace acemq::message {

// Headers as the JSON text of a row: compact, raw UTF-8, order kept, integers without exponent or fraction, doubles in their
// shortest round-trip form with a "." or an "e" (CONTRACT 2.2). The headers have passed check_headers().
std::string to_json(const Headers& headers);

}  // namespace acemq::message
