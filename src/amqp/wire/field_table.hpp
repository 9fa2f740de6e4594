// Headers as an AMQP field table, in RabbitMQ's dialect of the type letters (CONTRACT 7.3).
#pragma once

#include "acemq/headers.hpp"
#include "amqp/wire/buffer.hpp"

namespace acemq::amqp {

// How deep tables and lists may lie in each other below the outermost table.
inline constexpr int kFieldNestingMax = 32;

// Writes S, I (l when the integer needs more than 32 bits), d, t, V, F and A. A name over 255 bytes, a double that
// is not finite, or deeper nesting fails the writer.
void write_table(Writer& writer, const Headers& table);

// Reads every type that any client sends. What Headers cannot hold becomes the nearest thing it can: byte arrays become
// strings, decimals doubles, and timestamps their seconds (a double above the int64 range). Of a repeated
// name, which AMQP forbids, the first value counts. Anything malformed fails the reader.
Headers read_table(Reader& reader);

}  // namespace acemq::amqp
