#pragma once

#include <string>

#include "acemq/outbox/relay.hpp"
#include "app/output.hpp"

namespace acemq::app {

struct SweepArguments {
  std::string db = {};
  std::string table = {};
  std::string broker = {};  // URL with its password
  outbox::RelayOptions relay = {};
  bool all = false;  // until nothing is left, or a failure
};

int run(const SweepArguments& arguments, Output& output);

}  // namespace acemq::app
