#include "acemq/error.hpp"

#include "base/utf8.hpp"

namespace acemq {
namespace {

// Enough to recognise a value by; a whole body would flood a log.
std::string shown(std::string_view value) {
  constexpr std::size_t kCharacters = 100;
  std::string text = base::to_storable_text(value.substr(0, 4 * (kCharacters + 1)));
  const std::string_view prefix = base::utf8_prefix(text, kCharacters);
  if (prefix.size() == text.size()) return text;
  return std::string(prefix) + "... (" + std::to_string(value.size()) + " bytes)";
}

std::string sentence(const std::string& field, const std::string& rule, std::string_view value) {
  std::string text = field + " " + rule;
  if (!value.empty()) text += "; given: " + shown(value);
  return text;
}

// What the broker said stands behind what we say, unless that quotes it.
std::string sentence(const Failure& failure) {
  std::string text = std::string(to_string(failure.failure_class)) + ": " + failure.reason;
  if (failure.reason.find(failure.server_text) == std::string::npos) text += " (" + shown(failure.server_text) + ")";
  return text;
}

}  // namespace

InvalidRecord::InvalidRecord(std::string field, std::string rule, std::string_view value)
    : Error(sentence(field, rule, value), {.record_at_fault = true}),
      field_(std::move(field)),
      rule_(std::move(rule)),
      value_(shown(value)) {}

InvalidConfiguration::InvalidConfiguration(std::string field, std::string rule, std::string_view value)
    : Error(sentence(field, rule, value), {}), field_(std::move(field)), rule_(std::move(rule)), value_(shown(value)) {}

IdConflict::IdConflict(std::string_view id, std::string_view field)
    : Error("another record with the id " + shown(id) + " is stored already; it differs in " + std::string(field),
            {.record_at_fault = true}) {}

PublishError::PublishError(Failure failure) : Error(sentence(failure), failure.answers()), failure_(std::move(failure)) {}

std::string_view to_string(FailureClass failure_class) noexcept {
  switch (failure_class) {
    case FailureClass::refusal:
      return "refusal";
    case FailureClass::overload:
      return "overload";
    case FailureClass::outage:
      return "outage";
    case FailureClass::in_doubt:
      return "in doubt";
    case FailureClass::suspect:
      return "suspect";
    case FailureClass::store:
      return "store";
  }
  return "unknown";
}

ErrorAnswers Failure::answers() const noexcept {
  constexpr std::uint16_t kNoRoute = 312, kAccessRefused = 403, kNotFound = 404;
  switch (failure_class) {
    case FailureClass::refusal: {
      // Somebody may yet bind a queue, declare the exchange or grant the right; a message that is malformed or too large stays
      // so.
      const bool curable = code == kNoRoute || code == kAccessRefused || code == kNotFound;
      return {.record_at_fault = !curable, .try_again = curable};
    }
    case FailureClass::overload:
      // One full queue among several makes a nack; the others have the message.
      return {.may_have_happened = true, .try_again = true};
    case FailureClass::outage:
      return {.connection_usable = false, .try_again = true};
    case FailureClass::in_doubt:
    case FailureClass::suspect:
      return {.may_have_happened = true, .connection_usable = false, .try_again = true};
    case FailureClass::store:
      // The message may be out and only its mark missing.
      return {.may_have_happened = true, .try_again = true};
  }
  return {};
}

}  // namespace acemq
