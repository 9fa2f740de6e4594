// The door for a raw sqlite3*: inline, compiled against the application's own sqlite3.h and run by its own copy of SQLite.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "acemq/error.hpp"
#include "acemq/outbox/insert.hpp"

namespace acemq::outbox {

struct AddOptions {
  std::string_view table = kDefaultTable;
  TimeFormat time_format = TimeFormat::automatic;
  // For scripts: lets the row commit by itself. In a service this is the bug that the outbox exists to remove.
  bool allow_autocommit = false;
};

enum class Added {
  inserted,
  already_there,  // the same id with the same content: one message will be sent
};

}  // namespace acemq::outbox
