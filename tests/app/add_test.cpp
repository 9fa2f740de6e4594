#include <string>

#include <gmock/gmock.h>

#include "app/program.hpp"

namespace acemq::app::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Add : public ProgramTest {
 protected:
  void SetUp() override { ASSERT_EQ(acemq({"init"}).exit_code, 0); }

  // `acemq add --to order.placed arguments…`
  Finished add(std::vector<std::string> arguments, std::string input = {}) const {
    arguments.insert(arguments.begin(), {"add", "--to", "order.placed"});
    return acemq(std::move(arguments), std::move(input));
  }
  std::string column(const std::string& name) const { return value("SELECT " + name + " FROM acemq_outbox"); }
};

// One row with everything that was said, and its id on standard output.
TEST_F(Add, WritesOneRow) {
  const Finished run = add({"--exchange", "shop-events", "--type", "order.placed.v2", "--header", "tenant=acme", "--header",
                            "note=a=b", "--correlation", "c-1", "--causation", "c-0", R"({"order":"A-1"})"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, column("id") + "\n");
  EXPECT_EQ(column("exchange_name"), "shop-events");
  EXPECT_EQ(column("routing_key"), "order.placed");
  EXPECT_EQ(column("body"), R"({"order":"A-1"})");
  EXPECT_EQ(column("content_type"), "application/json");
  EXPECT_THAT(column("headers"), AllOf(HasSubstr(R"("x-acemq-type":"order.placed.v2")"), HasSubstr(R"("tenant":"acme")"),
                                       HasSubstr(R"("note":"a=b")"), HasSubstr(R"("x-acemq-correlation":"c-1")"),
                                       HasSubstr(R"("x-acemq-causation":"c-0")")));
}

// --json prints an object instead of the bare id.
TEST_F(Add, PrintsJson) { EXPECT_EQ(add({"--json", "--id", "A-1", "{}"}).out, "{\"id\":\"A-1\",\"added\":true}\n"); }

// A body that looks like a list is still one argument.
TEST_F(Add, TakesAListAsBody) {
  EXPECT_EQ(add({"[1,2]"}).exit_code, 0);
  EXPECT_EQ(column("body"), "[1,2]");
}

// From a file, byte for byte.
TEST_F(Add, ReadsAFile) {
  write_file("order.json", "{\n \"order\": 1\n}\n");
  EXPECT_EQ(add({"--file", "order.json"}).exit_code, 0);
  EXPECT_EQ(column("body"), "{\n \"order\": 1\n}\n");
}

// From standard input, for "-".
TEST_F(Add, ReadsStandardInput) {
  EXPECT_EQ(add({"-"}, R"({"order":2})").exit_code, 0);
  EXPECT_EQ(column("body"), R"({"order":2})");
}

// Text need not be JSON, but must be UTF-8.
TEST_F(Add, TakesText) {
  EXPECT_EQ(add({"--text", "plain words"}).exit_code, 0);
  EXPECT_EQ(column("content_type"), "text/plain; charset=utf-8");
  const Finished run = add({"--text", "-"}, "\xff");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("UTF-8"));
}

// Bytes may be anything; those that are no text are stored as base64.
TEST_F(Add, TakesBytes) {
  EXPECT_EQ(add({"--bytes", "-"}, std::string("\0\xff", 2)).exit_code, 0);
  EXPECT_EQ(column("content_type"), "application/octet-stream");
  EXPECT_EQ(column("body_encoding"), "base64");
  EXPECT_EQ(column("body"), "AP8=");
}

// A content type alone means bytes of that type.
TEST_F(Add, TakesAContentType) {
  EXPECT_EQ(add({"--content-type", "text/csv", "a;b"}).exit_code, 0);
  EXPECT_EQ(column("content_type"), "text/csv");
  EXPECT_EQ(column("body"), "a;b");
}

// Text that is no JSON is refused with the position, and nothing of it is shown.
TEST_F(Add, RefusesBrokenJson) {
  const Finished run = add({R"({"card":"4111", )"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("BODY must be JSON; at byte 16"), Not(HasSubstr("4111"))));
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "0");
}

// What cannot be a record is refused with the flag, and nothing is written.
TEST_F(Add, RefusesWhatCannotBeARecord) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--header", "tenant", "{}"}, "--header must be name=value; given: tenant"},
      {{"--header", "a=1", "--header", "a=2", "{}"}, "--header a is given twice"},
      {{"--header", "x-acemq-id=1", "{}"}, "x-acemq-"},
      {{"--id", std::string(65, 'x'), "{}"}, "--id must have at most 64 characters"},
      {{"--exchange", std::string(256, 'x'), "{}"}, "--exchange must have at most 255 bytes"},
      {{"--text", "--bytes", "x"}, "excludes"},
      {{"--text", "--content-type", "text/html", "x"}, "excludes"},
      {{"--file", "order.json", "{}"}, "excludes"},
      {{}, "the body is missing"},
  };
  for (const auto& [arguments, words] : cases) {
    const Finished run = add(arguments);
    EXPECT_EQ(run.exit_code, 2) << words;
    EXPECT_THAT(run.err, HasSubstr(words));
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "0");
}

// A body above the limit is refused for its size, and not for the JSON that was cut off.
TEST_F(Add, RefusesATooLongBody) {
  write_file("huge.json", '"' + std::string(17'000'000, 'x') + '"');
  const Finished run = add({"--file", "huge.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("at most 16777216 bytes"), HasSubstr("huge.json")));
}

// The same id with the same content is no error and no second row: a retried script is harmless.
TEST_F(Add, TwiceIsHarmless) {
  add({"--id", "A-1", "{}"});
  const Finished run = add({"--id", "A-1", "{}"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("A-1 is there already"));
  EXPECT_EQ(add({"--id", "A-1", "--json", "{}"}).out, "{\"id\":\"A-1\",\"added\":false}\n");
  EXPECT_EQ(value("SELECT count(*) FROM acemq_outbox"), "1");
}

// The same id with other content has an exit code of its own.
TEST_F(Add, SaysWhenAnIdIsTaken) {
  add({"--id", "A-1", "{}"});
  const Finished run = add({"--id", "A-1", "[]"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.err, AllOf(HasSubstr("A-1"), HasSubstr("differs in body"), HasSubstr("hint: ")));
}

// Without a database, a table or a file there is a hint.
TEST_F(Add, SaysWhatIsMissing) {
  const Finished no_file = add({"--db", "sqlite:other.db", "{}"});
  EXPECT_EQ(no_file.exit_code, 1);
  EXPECT_THAT(no_file.err, AllOf(HasSubstr("unable to open"), HasSubstr("hint: "), HasSubstr("acemq init")));
  EXPECT_FALSE(std::filesystem::exists(folder / "other.db"));

  const Finished no_table = add({"--table", "other", "{}"});
  EXPECT_EQ(no_table.exit_code, 1);
  EXPECT_THAT(no_table.err, AllOf(HasSubstr("no such table: other"), HasSubstr("acemq init makes the table")));

  const Finished no_body = add({"--file", "order.json"});
  EXPECT_EQ(no_body.exit_code, 1);
  EXPECT_THAT(no_body.err, HasSubstr("cannot open order.json: No such file or directory"));
}

}  // namespace
}  // namespace acemq::app::testing
