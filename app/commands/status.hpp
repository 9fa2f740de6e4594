#pragma once

#include <cstdint>
#include <string>

#include "app/output.hpp"

namespace acemq::app {

struct StatusArguments {
  std::string db = {};
  std::string table = {};
  std::int32_t attempts_max = 10;  // at which a row counts as retired
};

int run(const StatusArguments& arguments, Output& output);

}  // namespace acemq::app
