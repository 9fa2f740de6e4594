#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "app/program.hpp"

namespace acemq::app::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Init = ProgramTest;

constexpr const char* kObjects = "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name";

// The first run makes the file, table and indexes, and says so; nobody but owner and group may read the file.
TEST_F(Init, MakesFileAndTable) {
  const mode_t before = ::umask(022);
  const Finished run = acemq({"init", "--db", "sqlite:shop.db"});
  ::umask(before);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("made the file shop.db\n"), HasSubstr("made the table acemq_outbox\n"),
                             HasSubstr("made the index acemq_outbox_relay\n")));
  struct stat status {};
  ASSERT_EQ(::stat((folder / "shop.db").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "0");
}

// A second run changes nothing and says that, too.
TEST_F(Init, IsIdempotent) {
  acemq({"init"});
  const auto objects = query(kObjects);
  acemq({"add", "--to", "orders", "{}"});
  const Finished run = acemq({"init"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("nothing to do"), Not(HasSubstr("made"))));
  EXPECT_EQ(query(kObjects), objects);
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "1");
}

// An index that a sibling's table lacks is added, and named.
TEST_F(Init, AddsWhatIsMissing) {
  acemq({"init"});
  query("DROP INDEX acemq_outbox_relay");
  EXPECT_THAT(acemq({"init", "--json"}).out,
              AllOf(HasSubstr(R"("new_file":false)"), HasSubstr(R"("made":["index acemq_outbox_relay"])")));
}

// The printed SQL, run by another client, makes the very same objects, for a table of any name; no database is touched.
TEST_F(Init, PrintsWhatItWouldMake) {
  const Finished printed = acemq({"init", "--print", "--table", "shop_outbox"});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "shop.db"));
  query(printed.out, "printed.db");
  acemq({"init", "--table", "shop_outbox"});
  EXPECT_EQ(query(kObjects, "printed.db"), query(kObjects));
}

// --print needs no database at all, and with --json it is one object.
TEST_F(Init, PrintsWithoutADatabase) {
  environment.clear();
  EXPECT_EQ(acemq({"init", "--print"}).exit_code, 0);
  EXPECT_THAT(acemq({"init", "--print", "--json"}).out, HasSubstr(R"({"sql":"-- )"));
}

// The journal mode of a file is its owner's: kept, with advice, unless --wal asks for the switch.
TEST_F(Init, SwitchesToWalOnlyWhenAsked) {
  const Finished first = acemq({"init"});
  EXPECT_THAT(first.out, AllOf(HasSubstr("journal mode: delete"), HasSubstr("advice: ")));
  EXPECT_EQ(value("PRAGMA journal_mode"), "delete");

  const Finished second = acemq({"init", "--wal"});
  EXPECT_THAT(second.out, AllOf(HasSubstr("journal mode: wal"), Not(HasSubstr("advice: "))));
  EXPECT_EQ(value("PRAGMA journal_mode"), "wal");
}

// A table of another shape is refused with its columns, and left as it is.
TEST_F(Init, RefusesATableOfAnotherShape) {
  query("CREATE TABLE acemq_outbox (id TEXT, payload BLOB)");
  const auto objects = query(kObjects);
  const Finished run = acemq({"init"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("found: id, payload"));
  EXPECT_EQ(query(kObjects), objects);
}

// A name that is none is refused before a file is made.
TEST_F(Init, RefusesABadTableName) {
  const Finished run = acemq({"init", "--table", "out box"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--table"), HasSubstr("out box")));
  EXPECT_FALSE(std::filesystem::exists(folder / "shop.db"));
}

// A file that cannot be made, or is no database, is a failure with the system's words.
TEST_F(Init, SaysWhyAFileCannotBeUsed) {
  const Finished nowhere = acemq({"init", "--db", "sqlite:no/such/folder/shop.db"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("No such file or directory"));

  write_file("letter.txt", std::string(2000, 'x'));
  const Finished text = acemq({"init", "--db", "sqlite:letter.txt"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("not a database"));
}

// A path is a path, whatever stands in it: nothing is cut off, decoded or read as a URI.
TEST_F(Init, TakesAnyPath) {
  for (const std::string path : {"file:shop.db", "file:shop.db?mode=memory", "a b?c=d#e%20f.db", "it's \"odd\".db", "-.db"}) {
    EXPECT_EQ(acemq({"init", "--db", "sqlite:" + path}).exit_code, 0) << path;
    EXPECT_EQ(acemq({"add", "--db", "sqlite:" + path, "--to", "q", "{}"}).exit_code, 0) << path;
    EXPECT_THAT(acemq({"status", "--db", "sqlite:" + path}).out, HasSubstr("pending  1")) << path;
    EXPECT_GT(std::filesystem::file_size(folder / path), 0U) << path;
  }
}

// Every way of writing --db that could be read in two ways is refused with an example.
TEST_F(Init, RefusesAnUnclearDatabase) {
  for (const std::string db : {"shop.db", "sqlite:", "sqlite::memory:", "sqlite://shop.db", "mysql://me:5ecret@host/shop"}) {
    const Finished run = acemq({"init", "--db", db});
    EXPECT_EQ(run.exit_code, 2) << db;
    EXPECT_THAT(run.err, AllOf(HasSubstr("--db"), HasSubstr("hint: as in sqlite:shop.db"), Not(HasSubstr("5ecret"))));
  }
  EXPECT_EQ(acemq({"init", "--db", "sqlite://" + (folder / "shop.db").string()}).exit_code, 0);
}

}  // namespace
}  // namespace acemq::app::testing
