#pragma once

#include <string>

#include "acemq/outbox/store.hpp"
#include "acemq/transport.hpp"

namespace acemq::relay {

// The message that a row stands for, body bytes verbatim (CONTRACT 2.1). When the row cannot be one, `defect` says why and the
// message holds only what could be read: such a row is refused, and counted, rather than published as guesswork.
Message decode_row(outbox::Row&& row, std::string& defect);

}  // namespace acemq::relay
