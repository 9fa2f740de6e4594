// A SQLite file in a folder of its own, and a connection beside the store's: the application's, or a sibling's.
#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <stdlib.h>

#include "acemq/adapters/sqlite.hpp"
#include "acemq/message_factory.hpp"
#include "acemq/sqlite_store.hpp"

namespace acemq::test {

// In memory where there is such a place: what these tests prove does not depend on a disk.
class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path().string()) {
    path_ += "/acemq-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  }
  ~TempFolder() {
    std::error_code ignored;  // a leftover in the temporary folder harms nobody
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

class Database {
 public:
  explicit Database(const std::string& path) {
    sqlite3* handle = nullptr;
    const int code = sqlite3_open(path.c_str(), &handle);
    handle_.reset(handle);
    if (code != SQLITE_OK) throw std::runtime_error("cannot open " + path);
    sqlite3_busy_timeout(handle, 20'000);
  }

  sqlite3* handle() const { return handle_.get(); }
  void run(const std::string& sql) const {
    if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(std::string(sqlite3_errmsg(handle_.get())) + " in: " + sql);
    }
  }
  // All values of all rows as text; NULL is "NULL".
  std::vector<std::string> values(const std::string& sql) const {
    std::vector<std::string> values;
    const auto collect = [](void* out, int count, char** texts, char** /*names*/) {
      for (int i = 0; i < count; ++i) static_cast<std::vector<std::string>*>(out)->emplace_back(texts[i] ? texts[i] : "NULL");
      return 0;
    };
    if (sqlite3_exec(handle_.get(), sql.c_str(), collect, &values, nullptr) != SQLITE_OK) {
      throw std::runtime_error(std::string(sqlite3_errmsg(handle_.get())) + " in: " + sql);
    }
    return values;
  }
  std::string value(const std::string& sql) const { return values(sql).at(0); }
  void add(const outbox::Record& record, outbox::TimeFormat format = outbox::TimeFormat::automatic) const {
    outbox::add(handle_.get(), record, {.time_format = format, .allow_autocommit = true});
  }

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// What the documented Rails migration makes, with the family's index and none of ours.
inline std::string rails_schema() {
  return "CREATE TABLE acemq_outbox (id varchar(64) NOT NULL PRIMARY KEY, exchange_name varchar(255) NOT NULL, "
         "routing_key varchar(255) NOT NULL, body text NOT NULL, body_encoding varchar(16) NOT NULL, "
         "content_type varchar(255) NOT NULL, headers text NOT NULL, created_at datetime(6) NOT NULL, "
         "published_at datetime(6), attempts integer DEFAULT 0 NOT NULL, last_error varchar(1000), locked_by varchar(64), "
         "locked_until datetime(6));"
         "CREATE INDEX acemq_outbox_pending ON acemq_outbox (published_at, created_at);";
}

inline outbox::Record make_record(const std::string& id, Timestamp created_at, const std::string& routing_key = "order.placed",
                                  std::string body = "{}") {
  static const MessageOrigin origin{{.origin = "store@test"}};
  outbox::Record record =
      outbox::make_record(origin, std::move(body), "application/json", {.to = routing_key, .exchange = "shop-events", .id = id});
  record.created_at = created_at;
  return record;
}

}  // namespace acemq::test
