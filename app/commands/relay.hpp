#pragma once

#include <string>

#include "acemq/outbox/relay.hpp"
#include "app/output.hpp"

namespace acemq::app {

struct RelayArguments {
  std::string db = {};
  std::string table = {};
  std::string broker = {};  // URL with its password
  outbox::RelayOptions relay = {};
};

// Until a signal. Logs to standard error, as JSON when `output` is asked for it; prints nothing.
int run(const RelayArguments& arguments, Output& output);

}  // namespace acemq::app
