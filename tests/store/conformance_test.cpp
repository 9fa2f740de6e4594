// Every store of ours passes the suite that a user's store is given.
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "acemq/testing.hpp"
#include "store/sqlite_fixture.hpp"

namespace acemq::test {
namespace {

using outbox::TimeFormat;
using testing::ConformanceCase;
using testing::ManualClock;
using testing::MemoryStore;
using testing::StoreSubject;

class MemorySubject final : public StoreSubject {
 public:
  std::shared_ptr<outbox::Store> store() override { return store_; }
  ManualClock& clock() override { return clock_; }
  void add(const outbox::Record& record) override { store_->add(record); }

  std::string state(const std::string& id) override {
    const auto row = find(id);
    if (!row) return "missing";
    if (row->published_at) return "published";
    if (!row->locked_until || *row->locked_until <= clock_.now()) return "pending";
    return row->locked_by.empty() ? "waiting" : "leased";
  }
  std::string last_error(const std::string& id) override { return find(id)->last_error; }
  std::int32_t attempts(const std::string& id) override { return find(id)->row.attempts; }

 private:
  std::optional<MemoryStore::StoredRow> find(const std::string& id) const {
    for (const auto& row : store_->rows()) {
      if (row.row.id == id) return row;
    }
    return std::nullopt;
  }

  ManualClock clock_;
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>(clock_);
};

// Records, and stores, are written in `formats` by turns.
class SqliteSubject final : public StoreSubject {
 public:
  SqliteSubject(const std::string& schema, std::vector<TimeFormat> formats) : formats_(std::move(formats)) {
    database_.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + schema);
  }

  std::shared_ptr<outbox::Store> store() override {
    return std::make_shared<SqliteStore>(path_, SqliteStoreOptions{.time_format = next(stores_), .clock = &clock_});
  }
  ManualClock& clock() override { return clock_; }
  void add(const outbox::Record& record) override { database_.add(record, next(records_)); }

  std::string state(const std::string& id) override {
    const std::string now = std::to_string(clock_.now().time_since_epoch().count());
    const auto states = database_.values(
        "SELECT CASE WHEN published_at IS NOT NULL THEN 'published' WHEN locked_until IS NULL OR "
        "round((julianday(substr(locked_until, 1, 10)) - 2440587.5) * 86400) * 1000000 + substr(locked_until, 12, 2) * "
        "3600000000 "
        "+ substr(locked_until, 15, 2) * 60000000 + substr(locked_until, 18, 2) * 1000000 + substr(locked_until, 21, 6) <= " +
        now + " THEN 'pending' WHEN locked_by IS NULL THEN 'waiting' ELSE 'leased' END" + where(id));
    return states.empty() ? "missing" : states[0];
  }
  std::string last_error(const std::string& id) override { return database_.value("SELECT ifnull(last_error, '')" + where(id)); }
  std::int32_t attempts(const std::string& id) override { return std::stoi(database_.value("SELECT attempts" + where(id))); }

 private:
  TimeFormat next(std::size_t& turn) { return formats_[turn++ % formats_.size()]; }
  static std::string where(std::string id) {
    for (std::size_t at = 0; (at = id.find('\'', at)) != std::string::npos; at += 2) id.insert(at, "'");
    return " FROM acemq_outbox WHERE id = '" + id + "'";
  }

  TempFolder folder_;
  std::string path_ = folder_.file("shop.db");
  Database database_{path_};
  std::vector<TimeFormat> formats_;
  std::size_t records_ = 0;
  std::size_t stores_ = 0;
  ManualClock clock_;
};

using MakeSubject = std::function<std::unique_ptr<StoreSubject>()>;

class CaseTest final : public ::testing::Test {
 public:
  CaseTest(ConformanceCase the_case, MakeSubject make_subject)
      : case_(std::move(the_case)), make_subject_(std::move(make_subject)) {}
  void TestBody() override {
    const auto subject = make_subject_();
    EXPECT_NO_THROW(case_.run(*subject));
  }

 private:
  ConformanceCase case_;
  MakeSubject make_subject_;
};

void register_suite(const std::string& suite, const MakeSubject& make_subject) {
  const auto skipped = [](const std::string& name, const std::string& reason) {
    FAIL() << "our stores can do everything, but not " << name << ": " << reason;
  };
  for (const ConformanceCase& each : testing::store_conformance(skipped)) {
    ::testing::RegisterTest(suite.c_str(), each.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                            [=]() -> ::testing::Test* { return new CaseTest(each, make_subject); });
  }
}

[[maybe_unused]] const bool registered = [] {
  register_suite("MemoryStoreConformance", [] { return std::make_unique<MemorySubject>(); });
  register_suite("SqliteStoreConformance",
                 [] { return std::make_unique<SqliteSubject>(sqlite_schema(), std::vector{TimeFormat::automatic}); });
  register_suite("SqliteStoreOnRailsTableConformance",
                 [] { return std::make_unique<SqliteSubject>(rails_schema(), std::vector{TimeFormat::automatic}); });
  register_suite("SqliteStoreOnMixedFormatsConformance", [] {
    return std::make_unique<SqliteSubject>(sqlite_schema(), std::vector{TimeFormat::iso, TimeFormat::rails, TimeFormat::rails});
  });
  return true;
}();

}  // namespace
}  // namespace acemq::test
