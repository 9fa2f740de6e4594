#pragma once

#include <string_view>

#include "acemq/headers.hpp"

namespace acemq::outbox {

// What check(record) checks, for whoever holds these fields elsewhere. Throws InvalidRecord.
void check_fields(std::string_view id, std::string_view exchange, std::string_view routing_key, std::string_view content_type,
                  const Headers& headers);

}  // namespace acemq::outbox
