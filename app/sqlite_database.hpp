// What database.hpp offers, for a SQLite file.
#pragma once

#include <string>
#include <string_view>

#include "app/database.hpp"

namespace acemq::app::sqlite {

std::string schema(std::string_view table, bool wal);
// A new file is readable by its group and nobody else: 0640, less what the umask takes.
Initialised initialise(const std::string& path, const std::string& table, bool wal);
outbox::Added add(const std::string& path, const std::string& table, const outbox::Record& record);

}  // namespace acemq::app::sqlite
