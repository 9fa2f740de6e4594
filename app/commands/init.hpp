#pragma once

#include <string>

#include "app/output.hpp"

namespace acemq::app {

struct InitArguments {
  std::string db = {};  // may be empty with print
  std::string table = {};
  bool print = false;  // only show the SQL
  bool wal = false;
};

int run(const InitArguments& arguments, Output& output);

}  // namespace acemq::app
