// What is said during the login, and what is agreed: pure functions of both sides' wishes.
#pragma once

#include <optional>
#include <string>

#include "amqp/session/session.hpp"
#include "amqp/wire/methods.hpp"

namespace acemq::amqp {

// Why this server is of no use to us, before any secret is sent to it.
std::optional<std::string> objection_to(const ConnectionStart& start);

// Our introduction and what we can do. Without the capability connection.blocked, for one, the broker would block us silently.
Headers client_properties(const std::string& client_name);

// The answer to the broker's limits: of each the smaller one, where 0 means none.
ConnectionTune negotiate(const SessionOptions& ours, const ConnectionTune& theirs);

}  // namespace acemq::amqp
