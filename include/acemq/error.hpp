// Errors. Exceptions are for a caller whose transaction must roll back or whose call cannot go on; what a relay meets every
// day (a nack, a return, an outage) is a Failure, a plain value.
//
// Both answer the same four questions, so that no caller needs to know which function failed to decide what to do. No error
// text holds a secret: URLs are shown without their password, statements without their parameters.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace acemq {

// What a caller wants to know of any error.
struct ErrorAnswers {
  bool record_at_fault = false;    // the same record would fail again, whatever the circumstances
  bool may_have_happened = false;  // in doubt: the effect may be there although an error was reported
  bool connection_usable = true;   // the connection, handle or transaction can still be used
  bool try_again = false;          // the same call may succeed later, unchanged
};

class Error : public std::runtime_error {
 public:
  Error(const std::string& what, ErrorAnswers answers) : std::runtime_error(what), answers_(answers) {}
  const ErrorAnswers& answers() const noexcept { return answers_; }

 private:
  ErrorAnswers answers_;
};

// A message, record or header that no broker or table would take, refused where it was made (CONTRACT 2.2, 2.5).
class InvalidRecord : public Error {
 public:
  // `field` as the caller spelled it, `rule` what it must satisfy, `value` what was given (cut to a bounded length).
  InvalidRecord(std::string field, std::string rule, std::string_view value);
  const std::string& field() const noexcept { return field_; }
  const std::string& rule() const noexcept { return rule_; }
  const std::string& value() const noexcept { return value_; }

 private:
  std::string field_, rule_, value_;
};

// Something was set up in a way that cannot work: a URL, a table name, an option out of its bounds.
class InvalidConfiguration : public Error {
 public:
  InvalidConfiguration(std::string field, std::string rule, std::string_view value);
  const std::string& field() const noexcept { return field_; }
  const std::string& rule() const noexcept { return rule_; }
  const std::string& value() const noexcept { return value_; }

 private:
  std::string field_, rule_, value_;
};

// add() was called with no transaction open: the row would commit by itself, which is the very bug an outbox removes.
class NotInTransaction : public Error {
 public:
  explicit NotInTransaction(const std::string& what) : Error(what, {}) {}
};

// A record with this id is stored already, with other content. The transaction stays usable.
class IdConflict : public Error {
 public:
  // `field` is the first one that differs.
  IdConflict(std::string_view id, std::string_view field);
};

// A database said no. `code` is the database's own: SQLite's extended result code, or an SQLSTATE.
class StoreError : public Error {
 public:
  StoreError(const std::string& what, std::string code, ErrorAnswers answers) : Error(what, answers), code_(std::move(code)) {}
  const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

// Why a message did not go out, in the words of DESIGN: three things that must never be mixed up, and three that need a
// second look.
enum class FailureClass {
  refusal,   // the broker, or a limit, refuses this very message: counts as an attempt
  overload,  // nack: a full queue, a queue without a leader
  outage,    // no connection, login, TLS, DNS, blocked
  in_doubt,  // sent, never answered
  suspect,   // one of the messages in flight broke the connection; which one is not known yet
  store,     // the database could not be read or written
};
std::string_view to_string(FailureClass failure_class) noexcept;

struct Failure {
  FailureClass failure_class = FailureClass::outage;
  std::uint16_t code = 0;        // AMQP reply code, 0 without one
  std::string reason = {};       // in our words; fit for last_error
  std::string server_text = {};  // what the broker said, kept apart: it may hold user data

  ErrorAnswers answers() const noexcept;
};

// A message was not published, or a broker said no. what() ends with the broker's words, cut to a bounded length.
class PublishError : public Error {
 public:
  explicit PublishError(Failure failure);
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

}  // namespace acemq
