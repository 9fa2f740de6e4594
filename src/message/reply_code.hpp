// What the reply codes of AMQP 0-9-1 (constants, page 4) say about the message that was published last, as RabbitMQ uses them.
#pragma once

#include <cstdint>

namespace acemq::message {

// A channel is closed with these because of a message: access refused, no such exchange, a precondition (size, CC header).
constexpr bool closes_channel_over_message(std::uint16_t code) { return code == 403 || code == 404 || code == 406; }

// The whole connection is closed with these over a frame that could not be accepted, or when handling one broke it.
constexpr bool closes_connection_over_message(std::uint16_t code) { return code == 501 || code == 502 || code == 541; }

}  // namespace acemq::message
