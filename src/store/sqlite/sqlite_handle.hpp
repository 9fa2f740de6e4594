// Owners for what the C interface of SQLite hands out: a connection, a prepared statement, a transaction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "acemq/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace acemq::sqlite {

class Connection {
 public:
  // Opens an existing file for reading and writing. Throws StoreError.
  Connection(const std::string& path, std::chrono::milliseconds busy_timeout);

  // Runs SQL that returns nothing. `doing` says in an error what for.
  void execute(const char* sql, std::string_view doing);
  // Rows that the last INSERT, UPDATE or DELETE changed.
  std::size_t changes() const noexcept;
  bool in_transaction() const noexcept;
  // Whether the file that was opened is no longer the one at its path.
  bool file_has_moved() const noexcept;
  sqlite3* handle() const noexcept { return handle_.get(); }

  // SQLite's message and extended code; parameters are never part of it.
  [[noreturn]] void raise(int code, std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement; lives no longer than its connection. Prepared once and run often.
class Statement {
 public:
  // Throws StoreError. `doing` says in an error what for; it must outlive the statement.
  Statement(const Connection& connection, const std::string& sql, std::string_view doing);

  // One execution. Its end resets the statement: one left in the middle would hold a read snapshot open, and the write-ahead log
  // could not be reset meanwhile.
  class Run {
   public:
    // Binds the parameters from the first on.
    template <class... Parameters>
    explicit Run(const Statement& statement, const Parameters&... parameters) : statement_(statement) {
      int index = 0;
      (bind(++index, parameters), ...);
    }
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    // Whether there is another row.
    bool step();
    void finish() {
      while (step()) {
      }
    }

    // Valid until the next step(). A NULL reads as empty text and 0.
    std::string_view text(int column) const;
    std::int64_t integer(int column) const;
    bool is_null(int column) const;

   private:
    void bind(int index, std::string_view text);
    void bind(int index, const std::string& text) { bind(index, std::string_view(text)); }
    void bind(int index, const std::optional<std::string>& text);  // nullopt is NULL
    void bind(int index, std::int64_t integer);
    void check(int code) const;

    const Statement& statement_;
  };

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const noexcept;
  };
  const Connection* connection_;
  std::string_view doing_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Takes the write lock at once. A transaction that begins by reading is refused the lock without any waiting when another
// writer was faster, whatever the busy timeout. Rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Connection& connection_;
};

}  // namespace acemq::sqlite
