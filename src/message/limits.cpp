#include "message/limits.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "acemq/envelope.hpp"
#include "acemq/error.hpp"
#include "base/utf8.hpp"
#include "message/headers_json.hpp"

namespace acemq::message {
namespace {

constexpr std::string_view kHeaders = "headers";

[[noreturn]] void refuse_headers(const std::string& rule, std::string_view value) {
  throw InvalidRecord(std::string(kHeaders), rule, value);
}

void check_name(std::string_view name) {
  if (name.empty()) refuse_headers("must not have an empty name", "");
  if (name.size() > kShortStringBytesMax) {
    refuse_headers("must have names of at most 255 bytes, not " + std::to_string(name.size()), name);
  }
  if (!base::is_storable_text(name)) refuse_headers("must have names of UTF-8 without NUL", name);
}

void check_table(const Headers& headers, std::size_t depth);

// `name` is that of the nearest table entry.
void check_value(std::string_view name, const HeaderValue& value, std::size_t depth) {
  const auto refuse = [name](const char* rule, std::string_view shown) {
    refuse_headers(rule + (" in " + std::string(name)), shown);
  };
  if (const auto* text = value.as_string(); text && !base::is_storable_text(*text)) {
    refuse("must hold UTF-8 text without NUL", *text);
  }
  if (const auto* real = value.as_double(); real && !std::isfinite(*real)) {
    refuse("must hold finite numbers", std::isnan(*real) ? "NaN" : *real < 0 ? "-infinity" : "infinity");
  }
  const auto* list = value.as_list();
  const auto* table = value.as_table();
  if ((list || table) && depth == kHeaderNestingMax) refuse("must not be nested more than 32 deep", "");
  if (table) check_table(*table, depth + 1);
  if (list) {
    for (const HeaderValue& item : *list) check_value(name, item, depth + 1);
  }
}

// `depth` counts this table: the outermost is 1.
void check_table(const Headers& headers, std::size_t depth) {
  for (const auto& [name, value] : headers) {
    check_name(name);
    check_value(name, value, depth);
  }
}

bool is_list_of_strings(const HeaderValue& value) {
  const auto* list = value.as_list();
  if (!list) return false;
  for (const HeaderValue& item : *list) {
    if (!item.as_string()) return false;
  }
  return true;
}

// RabbitMQ routes copies by these two, and closes the channel, neighbours and all, for a value of another type.
void check_copies(const Headers& headers) {
  for (const char* name : {"CC", "BCC"}) {
    const HeaderValue* value = headers.find(name);
    if (!value || is_list_of_strings(*value)) continue;
    refuse_headers(std::string("must hold a list of strings in ") + name, to_json({{name, *value}}));
  }
}

std::size_t amqp_value_bytes(const HeaderValue& value) noexcept {
  std::size_t bytes = 1;  // the kind
  if (const auto* text = value.as_string()) return bytes + 4 + text->size();
  if (const auto* integer = value.as_int()) {
    using Narrow = std::numeric_limits<std::int32_t>;
    return bytes + (*integer >= Narrow::min() && *integer <= Narrow::max() ? 4 : 8);
  }
  if (value.as_double()) return bytes + 8;
  if (value.as_bool()) return bytes + 1;
  if (const auto* table = value.as_table()) return bytes + amqp_table_bytes(*table);
  if (const auto* list = value.as_list()) {
    bytes += 4;
    for (const HeaderValue& item : *list) bytes += amqp_value_bytes(item);
  }
  return bytes;
}

}  // namespace

void check_text(std::string_view field, std::string_view value) {
  if (!base::is_storable_text(value)) throw InvalidRecord(std::string(field), "must be UTF-8 text without NUL", value);
}

void check_short_string(std::string_view field, std::string_view value) {
  if (value.size() > kShortStringBytesMax) {
    throw InvalidRecord(std::string(field), "must have at most 255 bytes, not " + std::to_string(value.size()), value);
  }
  check_text(field, value);
}

void check_id(std::string_view field, std::string_view id) {
  if (id.empty()) throw InvalidRecord(std::string(field), "must not be empty", "");
  check_short_string(field, id);
  if (const std::size_t length = base::utf8_length(id); length > kIdCharactersMax) {
    throw InvalidRecord(std::string(field), "must have at most 64 characters, not " + std::to_string(length), id);
  }
}

void check_headers(const Headers& headers) {
  check_table(headers, 1);
  check_copies(headers);
}

void check_application_headers(const Headers& headers) {
  std::string reserved;
  for (const auto& [name, value] : headers) {
    if (name.starts_with(kReservedPrefix)) reserved += (reserved.empty() ? "" : ", ") + name;
  }
  if (!reserved.empty()) refuse_headers("must not begin with x-acemq-, which belongs to the envelope", reserved);
  check_headers(headers);
}

void check_headers_size(const Headers& headers) {
  const auto check = [](std::size_t bytes, const char* form) {
    if (bytes <= kHeadersBytesMax) return;
    refuse_headers("must take at most " + std::to_string(kHeadersBytesMax) + " bytes " + form + ", not " + std::to_string(bytes),
                   "");
  };
  check(amqp_table_bytes(headers), "on the wire");
  check(to_json(headers).size(), "as JSON");
}

std::size_t amqp_table_bytes(const Headers& headers) noexcept {
  std::size_t bytes = 4;
  for (const auto& [name, value] : headers) bytes += 1 + name.size() + amqp_value_bytes(value);
  return bytes;
}

}  // namespace acemq::message
