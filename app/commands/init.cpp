#include "app/commands/init.hpp"

#include <fmt/format.h>

#include "app/database.hpp"
#include "app/failure.hpp"

namespace acemq::app {
namespace {

std::string words(const Database& database, const std::string& table, const Initialised& done) {
  std::string text;
  if (done.new_file) text += fmt::format("made the file {}\n", database.path);
  for (const std::string& object : done.made) text += fmt::format("made the {}\n", object);
  if (done.made.empty()) text += fmt::format("nothing to do: {} has the table {} and its indexes\n", describe(database), table);
  text += fmt::format("journal mode: {}", done.journal_mode);
  if (done.journal_mode != "wal") {
    text +=
        "\nadvice: with write-ahead logging (acemq init --wal) readers and the writer do not wait for each other; it is a "
        "lasting\nproperty of the file, and every user of it then needs write access to its folder";
  }
  return text;
}

}  // namespace

int run(const InitArguments& arguments, Output& output) {
  const Database database = arguments.print && arguments.db.empty() ? Database{} : parse_database(arguments.db);
  if (arguments.print) {
    const std::string sql = schema(database, arguments.table, arguments.wal);
    output.json() ? output.result({}, {{"sql", sql}}) : output.text(sql);
    return kOk;
  }
  const Initialised done = initialise(database, arguments.table, arguments.wal);
  HeaderList made;
  for (const std::string& object : done.made) made.emplace_back(object);
  output.result(words(database, arguments.table, done), {{"db", describe(database)},
                                                         {"table", arguments.table},
                                                         {"new_file", done.new_file},
                                                         {"made", made},
                                                         {"journal_mode", done.journal_mode}});
  return kOk;
}

}  // namespace acemq::app
