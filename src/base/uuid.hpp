#pragma once

#include <string>

#include "acemq/clock.hpp"

namespace acemq::base {

// UUID version 4, lower case, hyphenated (RFC 4122).
std::string new_uuid(Random& random);

}  // namespace acemq::base
