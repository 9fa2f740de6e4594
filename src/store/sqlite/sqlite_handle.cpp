#include "store/sqlite/sqlite_handle.hpp"

#include <sqlite3.h>

namespace acemq::sqlite {

namespace {

ErrorAnswers answers_for(int code) {
  switch (code & 0xff) {  // the primary code; the rest says more
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
      return {.try_again = true};
    case SQLITE_IOERR:  // a commit that failed so may be on disk
      return {.may_have_happened = true, .try_again = true};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {.connection_usable = false};
    default:
      return {};
  }
}

StoreError make_error(int code, std::string_view doing, const char* message) {
  return StoreError("SQLite: " + std::string(doing) + ": " + message, std::to_string(code), answers_for(code));
}

}  // namespace

void Connection::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close(handle); }

Connection::Connection(const std::string& path, std::chrono::milliseconds busy_timeout) {
  sqlite3* handle = nullptr;
  // A path is a path: Debian's SQLite would read one that begins so as a URI, options and all.
  const std::string plain_path = (path.starts_with("file:") ? "./" : "") + path;
  const int code =
      sqlite3_open_v2(plain_path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);  // there is one to close after most failures, too
  const std::string doing = "opening " + path;
  if (handle == nullptr) throw make_error(SQLITE_NOMEM, doing, sqlite3_errstr(SQLITE_NOMEM));
  if (code != SQLITE_OK) raise(code, doing);
  // SQLite opens a file that it may not write without a word; every claim would fail later.
  if (sqlite3_db_readonly(handle, "main") == 1) throw make_error(SQLITE_READONLY, doing, "no permission to write");
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout.count()));
}

void Connection::execute(const char* sql, std::string_view doing) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code, doing);
}

std::size_t Connection::changes() const noexcept { return static_cast<std::size_t>(sqlite3_changes64(handle_.get())); }

bool Connection::in_transaction() const noexcept { return sqlite3_get_autocommit(handle_.get()) == 0; }

bool Connection::file_has_moved() const noexcept {
  int moved = 0;  // stays so for a file system that cannot tell
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void Connection::raise(int code, std::string_view doing) const { throw make_error(code, doing, sqlite3_errmsg(handle_.get())); }

void Statement::Finalize::operator()(sqlite3_stmt* handle) const noexcept { sqlite3_finalize(handle); }

Statement::Statement(const Connection& connection, const std::string& sql, std::string_view doing)
    : connection_(&connection), doing_(doing) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(connection.handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &handle, nullptr);
  if (code != SQLITE_OK) connection.raise(code, doing);
  handle_.reset(handle);
}

Statement::Run::~Run() {
  sqlite3_reset(statement_.handle_.get());  // its result repeats the error that step() has raised
  sqlite3_clear_bindings(statement_.handle_.get());
}

void Statement::Run::bind(int index, std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();  // a null pointer would bind NULL
  check(sqlite3_bind_text64(statement_.handle_.get(), index, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::Run::bind(int index, const std::optional<std::string>& text) {
  if (text) return bind(index, std::string_view(*text));
  check(sqlite3_bind_null(statement_.handle_.get(), index));
}

void Statement::Run::bind(int index, std::int64_t integer) {
  check(sqlite3_bind_int64(statement_.handle_.get(), index, integer));
}

void Statement::Run::check(int code) const {
  if (code != SQLITE_OK) statement_.connection_->raise(code, statement_.doing_);
}

bool Statement::Run::step() {
  const int code = sqlite3_step(statement_.handle_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) statement_.connection_->raise(code, statement_.doing_);
  return code == SQLITE_ROW;
}

std::string_view Statement::Run::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_.handle_.get(), column);  // before asking for the length
  const int size = sqlite3_column_bytes(statement_.handle_.get(), column);
  return bytes == nullptr ? std::string_view()
                          : std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::int64_t Statement::Run::integer(int column) const { return sqlite3_column_int64(statement_.handle_.get(), column); }

bool Statement::Run::is_null(int column) const { return sqlite3_column_type(statement_.handle_.get(), column) == SQLITE_NULL; }

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE", "taking the write lock");
}

Transaction::~Transaction() {
  // A failing ROLLBACK changes nothing: SQLite has rolled back already, or will when the connection closes.
  if (connection_.in_transaction()) sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() { connection_.execute("COMMIT", "committing"); }

}  // namespace acemq::sqlite
