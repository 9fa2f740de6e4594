#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "acemq/adapters/sqlite.hpp"
#include "acemq/error.hpp"
#include "acemq/outbox/insert.hpp"
#include "acemq/testing/manual_clock.hpp"
#include "outbox/row_rules.hpp"
#include "outbox/sqlite_database.hpp"

namespace {

using namespace acemq;
using namespace acemq::outbox;
using namespace std::string_literals;
using acemq::test::Database;

class StatementDoor : public ::testing::Test {
 protected:
  acemq::testing::ManualClock clock_;
  const MessageFactory shop_{{.origin = "shop@host-7", .clock = &clock_}};
  Database db_;

  Record order(RecordOptions changes = {}, const std::string& body = R"({"orderId":"A-1","totalCents":4250})") {
    if (changes.to.empty()) changes.to = "order.placed";
    if (changes.exchange.empty()) changes.exchange = "shop-events";
    if (changes.id.empty()) changes.id = "A-1";
    return record(shop_, body, std::move(changes));
  }
  void insert(const Record& record, const InsertOptions& options = {}) {
    const Statement statement = insert_statement(record, options);
    db_.rows(statement.sql, statement.parameters);
  }
  // The field in which the stored record differs, or "same".
  std::string conflict(const Record& record, const InsertOptions& options = {}) {
    const Statement statement = conflict_statement(record, options);
    return db_.one(statement.sql, statement.parameters).value_or("same");
  }
};

// The very row that the Ruby library, or Rails, writes for the same message, column for column.
TEST_F(StatementDoor, WritesTheFamilysRow) {
  std::ifstream file(ACEMQ_TEST_DATA "/derived-outbox-rows.json");
  const auto data = nlohmann::json::parse(file);
  const Record message = order({.type = "order.placed.v2",
                                .version = 2,
                                .id = "11111111-2222-3333-4444-555555555555",
                                .correlation = "corr-1",
                                .causation = "cause-1",
                                .headers = {{"tenant", "acme"},
                                            {"priority", 5},
                                            {"ratio", 0.5},
                                            {"vip", true},
                                            {"place", "Z\xc3\xbcrich <a&b>"},
                                            {"tags", Headers{{"a", HeaderList{1, "two", nullptr}}}}}});
  for (const auto& [writer, table] : {std::pair("ruby-library", test::kLibraryTable), {"rails-store", test::kRailsTable}}) {
    db_.run("DROP TABLE IF EXISTS acemq_outbox");
    db_.run(table);
    insert(message);
    for (const auto& example : data["rows"]) {
      if (example["writer"] != writer || example["dialect"] != "sqlite") continue;
      for (const auto& [column, value] : example["row"].items()) {
        const auto stored = db_.one("SELECT " + column + " FROM acemq_outbox");
        const auto expected =
            value.is_null() ? std::nullopt : std::optional(value.is_string() ? value.get<std::string>() : value.dump());
        EXPECT_EQ(stored, expected) << writer << ' ' << column;
      }
    }
  }
}

// Every style of placeholder makes the same row, with one placeholder for each parameter; the question style binds in order.
TEST_F(StatementDoor, WorksWithEveryPlaceholderStyle) {
  db_.run(test::kLibraryTable);
  for (const auto style : {Placeholders::question, Placeholders::dollar, Placeholders::colon}) {
    for (const auto format : {TimeFormat::automatic, TimeFormat::iso, TimeFormat::rails}) {
      db_.run("DELETE FROM acemq_outbox");
      const InsertOptions options{.placeholders = style, .time_format = format};
      insert(order(), options);
      EXPECT_EQ(
          db_.rows("SELECT id, exchange_name, routing_key, body_encoding, content_type, attempts FROM acemq_outbox"),
          (std::vector<std::vector<Database::Cell>>{{"A-1", "shop-events", "order.placed", "utf-8", "application/json", "0"}}));
      EXPECT_EQ(conflict(order(), options), "same");
      EXPECT_EQ(conflict(order({}, "[]"), options), "body");
    }
  }
}

// Parameters are numbered from 1 in each style.
TEST_F(StatementDoor, NumbersPlaceholders) {
  const auto sql = [this](Placeholders style) { return insert_statement(order(), {.placeholders = style}).sql; };
  EXPECT_NE(sql(Placeholders::dollar).find("($1, $2, $3, $4, $5, $6, $7,"), std::string::npos);
  EXPECT_NE(sql(Placeholders::colon).find("(:p1, :p2, :p3, :p4, :p5, :p6, :p7,"), std::string::npos);
  EXPECT_EQ(sql(Placeholders::dollar).find('?'), std::string::npos);
}

// The newest row decides about the format of time; an empty table's declared type does; an explicit format wins over both.
TEST_F(StatementDoor, FollowsTheTablesTimeFormat) {
  constexpr const char *kIso = "2026-01-02T03:04:05.678901Z", *kRails = "2026-01-02 03:04:05.678901";
  struct Case {
    const char* table;
    const char* existing;  // created_at of the rows that are there, oldest first, separated by |
    TimeFormat format;
    const char* expected;
  };
  const std::string iso_row = "2026-01-01T00:00:00.000000Z", rails_row = "2026-01-01 00:00:00.000000";
  const std::string iso_last = rails_row + "|" + iso_row, rails_last = iso_row + "|" + rails_row;
  const Case cases[] = {
      {test::kLibraryTable, "", TimeFormat::automatic, kIso},
      {test::kRailsTable, "", TimeFormat::automatic, kRails},
      {test::kLibraryTable, rails_row.c_str(), TimeFormat::automatic, kRails},
      {test::kRailsTable, iso_row.c_str(), TimeFormat::automatic, kIso},
      {test::kRailsTable, iso_last.c_str(), TimeFormat::automatic, kIso},
      {test::kLibraryTable, rails_last.c_str(), TimeFormat::automatic, kRails},
      {test::kLibraryTable, "1767323045678", TimeFormat::automatic, kIso},
      {test::kRailsTable, "1767323045678", TimeFormat::automatic, kRails},
      {test::kLibraryTable, iso_row.c_str(), TimeFormat::rails, kRails},
      {test::kRailsTable, rails_row.c_str(), TimeFormat::iso, kIso},
      {"CREATE TABLE acemq_outbox (id TEXT PRIMARY KEY, exchange_name, routing_key, body, body_encoding, content_type, headers, "
       "created_at DATETIME, published_at, attempts, last_error, locked_by, locked_until)",
       "", TimeFormat::automatic, kRails},
      {"CREATE TABLE acemq_outbox (id TEXT PRIMARY KEY, exchange_name, routing_key, body, body_encoding, content_type, headers, "
       "created_at TEXT, published_at, attempts, last_error, locked_by, locked_until)",
       "", TimeFormat::automatic, kIso},
  };
  const Record message = order();
  for (const Case& c : cases) {
    db_.run("DROP TABLE IF EXISTS acemq_outbox");
    db_.run(c.table);
    std::istringstream times(c.existing);
    int n = 0;
    for (std::string time; std::getline(times, time, '|');) {
      db_.rows("INSERT INTO acemq_outbox VALUES (?, 'e', 'k', '', 'utf-8', 't', '{}', ?, NULL, 0, NULL, NULL, NULL)",
               {"old" + std::to_string(++n), time});
    }
    const std::string type = *db_.one("SELECT type FROM pragma_table_info('acemq_outbox') WHERE name = 'created_at'");
    const bool is_datetime = sqlite3_strlike("datetime%", type.c_str(), 0) == 0;
    for (const TimeFormat declared : {TimeFormat::automatic, is_datetime ? TimeFormat::rails : TimeFormat::iso}) {
      db_.run("DELETE FROM acemq_outbox WHERE id = 'A-1'");
      insert(message, {.time_format = c.format, .declared_format = declared});
      EXPECT_EQ(db_.one("SELECT created_at FROM acemq_outbox WHERE id = 'A-1'"), c.expected) << c.table << c.existing;
      EXPECT_EQ(db_.one("SELECT typeof(created_at) FROM acemq_outbox WHERE id = 'A-1'"), "text");
    }
    // The sqlite3* door finds the declared type by itself.
    db_.run("DELETE FROM acemq_outbox WHERE id = 'A-1'");
    add(db_.handle(), message, {.time_format = c.format, .allow_autocommit = true});
    EXPECT_EQ(db_.one("SELECT created_at FROM acemq_outbox WHERE id = 'A-1'"), c.expected) << c.table << c.existing;
  }
}

// Bodies and header strings that break others' text columns come back byte for byte.
TEST_F(StatementDoor, B38_EveryBodyComesBack) {
  db_.run(test::kLibraryTable);
  for (const std::string& body : {"\0"s, "a\0b"s, "\xff\xfe"s, "\xed\xa0\x80"s, "\xc0\x80"s, ""s, "x"s, "\xf0\x9f\x9a\x80"s}) {
    db_.run("DELETE FROM acemq_outbox");
    const Record message = record(shop_, body, {.to = "k", .headers = {{"rocket", "\xf0\x9f\x9a\x80"}}}, BytesCodec{});
    insert(message);
    const auto row = db_.rows("SELECT body, body_encoding, typeof(body), json_extract(headers, '$.rocket') FROM acemq_outbox")[0];
    EXPECT_EQ(decode_body(*row[0], *row[1]), body);
    EXPECT_EQ(row[2], "text");
    EXPECT_EQ(row[3], "\xf0\x9f\x9a\x80");
    EXPECT_EQ(conflict(message), "same");
  }
}

// Parameters are never text in SQL: what looks like SQL stays a value. Table names are checked.
TEST_F(StatementDoor, ValuesStayValues) {
  db_.run(test::kLibraryTable);
  const std::string nasty = "'); DROP TABLE acemq_outbox; -- {table} ? $1";
  insert(order({.to = nasty, .exchange = nasty, .id = nasty, .headers = {{nasty, nasty}}}));
  EXPECT_EQ(db_.one("SELECT routing_key FROM acemq_outbox"), nasty);
  EXPECT_THROW(insert_statement(order(), {.table = "t; DROP TABLE x"}), InvalidConfiguration);
  EXPECT_THROW(conflict_statement(order(), {.table = "t\n"}), InvalidConfiguration);
  Record broken = order();
  broken.id.clear();
  EXPECT_THROW(insert_statement(broken), InvalidRecord);
  EXPECT_THROW(conflict_statement(broken), InvalidRecord);
}

// Another table than the default one.
TEST_F(StatementDoor, UsesTheGivenTable) {
  db_.run(
      "CREATE TABLE shop_outbox (id VARCHAR(64) PRIMARY KEY, exchange_name, routing_key, body, body_encoding, content_type, "
      "headers, "
      "created_at datetime(6), published_at, attempts, last_error, locked_by, locked_until)");
  insert(order(), {.table = "shop_outbox"});
  EXPECT_EQ(db_.one("SELECT created_at FROM shop_outbox"), "2026-01-02 03:04:05.678901");
  EXPECT_EQ(conflict(order({.to = "other"}), {.table = "shop_outbox"}), "routing_key");
}

// A second insert changes nothing, whatever has become of the first.
TEST_F(StatementDoor, SecondInsertChangesNothing) {
  db_.run(test::kLibraryTable);
  insert(order());
  db_.run("UPDATE acemq_outbox SET attempts = 3, locked_by = 'token'");
  const auto before = db_.rows("SELECT * FROM acemq_outbox");
  insert(order({}, "[]"));
  EXPECT_EQ(db_.rows("SELECT * FROM acemq_outbox"), before);
}

// A retried record() differs in times, origin, attempt and trace; those are not content. Nor is the way that JSON is spelled.
TEST_F(StatementDoor, RetriedRecordIsTheSame) {
  db_.run(test::kLibraryTable);
  EXPECT_EQ(conflict(order()), "id") << "nothing stored";
  const Headers mine{{"n", 1}, {"r", 0.5}, {"s", "Z\xc3\xbcrich/"}, {"t", Headers{{"l", HeaderList{true, nullptr, Headers{}}}}}};
  insert(order({.headers = mine}));
  clock_.advance(std::chrono::hours(1));
  const MessageFactory other({.origin = "shop@host-8", .decorate = [](Headers& headers) {
                                headers.set("traceparent", "00-2");
                                headers.set("tracestate", "x=1");
                              }});
  const Headers reordered{
      {"t", Headers{{"l", HeaderList{true, nullptr, Headers{}}}}}, {"s", "Z\xc3\xbcrich/"}, {"r", 0.5}, {"n", 1}};
  const Record retried = record(other, R"({"orderId":"A-1","totalCents":4250})",
                                {.to = "order.placed", .exchange = "shop-events", .id = "A-1", .headers = reordered});
  EXPECT_EQ(conflict(retried), "same");
  db_.rows("UPDATE acemq_outbox SET headers = ?",
           {R"({ "traceparent" : "00-1", "r": 5e-1, "n": 1, "s": "Z\u00fcrich\/", "t": {"l": [true, null, {}]} })"});
  EXPECT_EQ(conflict(retried), "same") << "type and version fall back to routing key and 1";
}

// Another writer may spell a header's name with escapes, as Python does with every character beyond ASCII, at any depth.
TEST_F(StatementDoor, EscapesInHeaderNamesAreNoDifference) {
  db_.run(test::kLibraryTable);
  const Record message =
      order({.headers = {{"Z\xc3\xbcrich", 1},
                         {"a/b \"c\"", Headers{{"\xf0\x9f\x9a\x80", HeaderList{"x", Headers{{"\xc3\xa9", 2}}}}}}}});
  insert(message);
  const auto stored = [&](const std::string& headers) {
    db_.rows("UPDATE acemq_outbox SET headers = ?", {headers});
    return conflict(message);
  };
  EXPECT_EQ(stored(R"({"a\/b\u0020\"c\u0022": {"\ud83d\ude80": ["x", {"\u00e9": 2}]}, "Z\u00fcrich": 1})"), "same");
  EXPECT_EQ(stored(R"({"a\/b\u0020\"c\u0022": {"\ud83d\ude80": ["x", {"\u00e8": 2}]}, "Z\u00fcrich": 1})"), "headers");
  EXPECT_EQ(stored(R"({"a/b \"c\"": {"\ud83d\ude80": {"0": "x", "1": {"\u00e9": 2}}}, "Z\u00fcrich": 1})"), "headers");
}

// The first differing field is named, in the order of the contract.
TEST_F(StatementDoor, NamesTheFieldThatDiffers) {
  db_.run(test::kLibraryTable);
  const Headers headers{{"a", 1}, {"t", Headers{{"x", "y"}}}};
  insert(order({.type = "t1", .version = 2, .headers = headers}));
  const auto differs = [&](RecordOptions changes, const std::string& body = R"({"orderId":"A-1","totalCents":4250})") {
    return conflict(order(std::move(changes), body));
  };
  EXPECT_EQ(differs({.type = "t1", .version = 2, .headers = headers}), "same");
  EXPECT_EQ(differs({.to = "z", .exchange = "z"}), "exchange");
  EXPECT_EQ(differs({.to = "z", .type = "z"}), "routing_key");
  EXPECT_EQ(differs({.type = "t2", .version = 3}), "type");
  EXPECT_EQ(differs({.type = "t1", .version = 3}, "[]"), "version");
  EXPECT_EQ(
      conflict(record(shop_, "[]", {.to = "order.placed", .exchange = "shop-events", .type = "t1", .version = 2, .id = "A-1"},
                      TextCodec{})),
      "content_type");
  EXPECT_EQ(differs({.type = "t1", .version = 2}, "[]"), "body");
  for (const Headers& other : {Headers{}, Headers{{"a", 1}}, Headers{{"a", 1.0}, {"t", Headers{{"x", "y"}}}},
                               Headers{{"a", "1"}, {"t", Headers{{"x", "y"}}}}, Headers{{"a", 1}, {"t", Headers{{"x", "z"}}}},
                               Headers{{"a", 1}, {"t", Headers{{"x", HeaderList{"y"}}}}},
                               Headers{{"a", 1}, {"t", Headers{{"x", "y"}}}, {"more", nullptr}}}) {
    EXPECT_EQ(differs({.type = "t1", .version = 2, .headers = other}), "headers");
  }
}

// Empty header text counts as no headers; text that is no JSON, or no object, differs without any SQL error.
TEST_F(StatementDoor, SurvivesHeaderTextThatIsNotJson) {
  db_.run(test::kLibraryTable);
  insert(order());
  const std::pair<const char*, const char*> cases[] = {
      {"''", "same"},      {"'{}'", "same"},   {"'{'", "headers"},    {"'nonsense'", "headers"},
      {"'[]'", "headers"}, {"'7'", "headers"}, {"x'ff00'", "headers"}};
  for (const auto& [text, expected] : cases) {
    db_.run("UPDATE acemq_outbox SET headers = "s + text);
    EXPECT_EQ(conflict(order()), expected) << text;
  }
  db_.run("UPDATE acemq_outbox SET headers = ''");
  EXPECT_EQ(conflict(order({.headers = {{"a", 1}}})), "headers");
}

// The same body stored as another encoding is another body: bytes decide, and base64 text is not its own content.
TEST_F(StatementDoor, EncodingIsPartOfTheBody) {
  db_.run(test::kLibraryTable);
  const Record binary = record(shop_, std::string("\xff"), {.to = "k", .id = "1"}, BytesCodec{});
  const Record text = record(shop_, std::string("/w=="), {.to = "k", .id = "1"}, BytesCodec{});
  insert(binary);
  EXPECT_EQ(conflict(text), "body");
  EXPECT_EQ(conflict(binary), "same");
}

}  // namespace
