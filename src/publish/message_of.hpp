#pragma once

#include "acemq/outbox/record.hpp"
#include "acemq/transport.hpp"

namespace acemq::publish {

// The message that a record stands for: the one that a relay makes of the record's row.
Message message_of(outbox::Record&& record, bool mandatory);
// Throws InvalidRecord for a message that is not as outbox::record() would have made it.
void check(const Message& message);

}  // namespace acemq::publish
