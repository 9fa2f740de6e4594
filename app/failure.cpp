#include "app/failure.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "acemq/error.hpp"

namespace acemq::app {
namespace {

// What the library calls a field, and what it is called here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kFlags{{
    {"url", "--broker (ACEMQ_URL)"},
    {"table", "--table"},
    {"interval", "--interval"},
    {"batch", "--batch"},
    {"window", "--window"},
    {"lease", "--lease"},
    {"attempts_max", "--attempts"},
    {"confirm_timeout", "--confirm-timeout"},
    {"open_timeout", "--open-timeout"},
    {"close_timeout", "--close-timeout"},
    {"payload", "BODY"},
    {"to", "--to"},
    {"exchange", "--exchange"},
    {"type", "--type"},
    {"id", "--id"},
    {"correlation", "--correlation"},
    {"causation", "--causation"},
    {"content_type", "--content-type"},
    {"headers", "--header"},
}};

// Library errors begin with the field's name.
std::string with_flag(const std::string& field, std::string words) {
  for (const auto& [name, flag] : kFlags) {
    if (field == name && words.starts_with(name)) return std::string(flag) + words.substr(name.size());
  }
  return words;
}

std::string hint_for(const Failure& failure) {
  constexpr std::uint16_t kNoRoute = 312, kAccessRefused = 403, kNotFound = 404, kNotAllowed = 530;
  switch (failure.failure_class) {
    case FailureClass::outage:
      if (failure.code == kAccessRefused) return "check user, password and vhost of the broker's URL (ACEMQ_URL)";
      if (failure.code == kNotAllowed)
        return "check the vhost, the last part of the broker's URL: / is written %2F, and a URL that ends in / names an empty "
               "one";
      return "is the broker up, and its URL (--broker or ACEMQ_URL) right? Nothing is lost: the rows stay pending";
    case FailureClass::overload:
      return "a queue is full or has no leader; the row waits and is tried again";
    case FailureClass::refusal:
      if (failure.code == kNoRoute)
        return "no queue is bound to that exchange for this routing key: bind one, the row is tried again";
      if (failure.code == kNotFound) return "declare the exchange: the row waits and is tried again";
      if (failure.code == kAccessRefused) return "the broker's user may not write to this exchange";
      return "the row keeps its attempts and the reason in last_error";
    case FailureClass::in_doubt:
    case FailureClass::suspect:
      return "sent, but not answered: the row stays pending and is sent again";
    case FailureClass::store:
      return {};
  }
  return {};
}

constexpr const char* kNoTable = "acemq init makes the table";

std::string hint_for(const StoreError& error) {
  constexpr std::string_view kCannotOpen = "14";
  if (error.code() == kCannotOpen)
    return "does the file exist, and may this user write to it and its folder? acemq init makes one";
  if (std::string_view(error.what()).find("no such table") != std::string_view::npos) return kNoTable;
  return error.answers().try_again ? "another process is using the database, or the disk is full; try again" : std::string();
}

}  // namespace

Explanation explain(const std::exception& error) {
  if (const auto* failure = dynamic_cast<const CommandFailure*>(&error)) {
    return {failure->exit_code(), failure->what(), failure->hint()};
  }
  if (const auto* conflict = dynamic_cast<const IdConflict*>(&error)) {
    return {kConflict, conflict->what(), "give the new record an id of its own, or none"};
  }
  if (const auto* invalid = dynamic_cast<const InvalidConfiguration*>(&error)) {
    const bool no_table = invalid->field() == "table" && invalid->rule().starts_with("must exist");
    return {kUsage, with_flag(invalid->field(), invalid->what()), no_table ? kNoTable : ""};
  }
  if (const auto* invalid = dynamic_cast<const InvalidRecord*>(&error)) {
    return {kUsage, with_flag(invalid->field(), invalid->what()), {}};
  }
  if (const auto* publish = dynamic_cast<const PublishError*>(&error)) {
    return {kBroker, publish->what(), hint_for(publish->failure())};
  }
  if (const auto* store = dynamic_cast<const StoreError*>(&error)) return {kFailed, store->what(), hint_for(*store)};
  return {kFailed, error.what(), {}};
}

}  // namespace acemq::app
