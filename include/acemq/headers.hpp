// Headers: the named values that travel beside a message's body.
//
//   acemq::Headers headers{{"tenant", "acme"}, {"priority", 5}, {"vip", true}};
//   headers.set("tags", acemq::HeaderList{"new", "paid"});
//
// Seven kinds of value survive a row and the wire alike, so only these exist: string, bool, int64, double, null, list and
// table (CONTRACT 2.2). An unsigned value above the int64 range is refused when it is given; bytes, timestamps and decimals
// have no type here: send text, or a number.
//
// All types on this page are plain values: copyable, movable, no thread safety of their own.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace acemq {

class HeaderValue;
// In braces around a single list compilers differ: g++ makes a list of one list, clang a copy. Use push_back() for that.
using HeaderList = std::vector<HeaderValue>;

// A table of header values. Names are unique and keep the order in which they were first set; order carries no meaning on the
// wire, so two tables are equal when they hold the same names and values in any order.
class Headers {
 public:
  struct Entry;
  using const_iterator = std::vector<Entry>::const_iterator;

  // Defined where Entry is complete.
  Headers() noexcept;
  Headers(const Headers& other);
  Headers(Headers&& other) noexcept;
  Headers& operator=(const Headers& other);
  Headers& operator=(Headers&& other) noexcept;
  ~Headers();

  // The last value of a repeated name wins.
  Headers(std::initializer_list<Entry> entries);

  // Adds `name`, or replaces its value in place.
  void set(std::string name, HeaderValue value);
  // The value of `name`, or nullptr. The pointer is valid until the table changes.
  const HeaderValue* find(std::string_view name) const noexcept;
  // Whether `name` was there.
  bool erase(std::string_view name);
  // For readers of untrusted input, where a search per name would be quadratic: adds without looking for an earlier value.
  // The caller knows that `name` is new.
  void append_unique(std::string name, HeaderValue value);

  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;
  std::size_t size() const noexcept;
  bool empty() const noexcept;

  friend bool operator==(const Headers& left, const Headers& right);

 private:
  std::vector<Entry> entries_;
};

class HeaderValue {
 public:
  HeaderValue() noexcept = default;  // null
  HeaderValue(std::nullptr_t) noexcept {}
  HeaderValue(bool value) noexcept : value_(value) {}
  HeaderValue(double value) noexcept : value_(value) {}
  HeaderValue(const char* value) : value_(std::string(value)) {}
  HeaderValue(std::string_view value) : value_(std::string(value)) {}
  HeaderValue(std::string value) noexcept : value_(std::move(value)) {}
  HeaderValue(HeaderList value) noexcept : value_(std::move(value)) {}
  HeaderValue(Headers value) noexcept : value_(std::move(value)) {}
  // Throws InvalidRecord when an unsigned value does not fit int64.
  template <std::integral Integer>
  HeaderValue(Integer value) : value_(to_int64(value)) {}
  // A stray pointer would become a bool.
  template <class T>
  HeaderValue(T*) = delete;

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(value_); }
  // Each returns nullptr when the value is of another kind.
  const bool* as_bool() const noexcept { return std::get_if<bool>(&value_); }
  const std::int64_t* as_int() const noexcept { return std::get_if<std::int64_t>(&value_); }
  const double* as_double() const noexcept { return std::get_if<double>(&value_); }
  const std::string* as_string() const noexcept { return std::get_if<std::string>(&value_); }
  const HeaderList* as_list() const noexcept { return std::get_if<HeaderList>(&value_); }
  const Headers* as_table() const noexcept { return std::get_if<Headers>(&value_); }

  friend bool operator==(const HeaderValue& left, const HeaderValue& right);

 private:
  template <std::integral Integer>
  static std::int64_t to_int64(Integer value) {
    if (!std::in_range<std::int64_t>(value)) refuse_integer(static_cast<std::uint64_t>(value));
    return static_cast<std::int64_t>(value);
  }
  [[noreturn]] static void refuse_integer(std::uint64_t value);

  std::variant<std::monostate, bool, std::int64_t, double, std::string, HeaderList, Headers> value_;
};

struct Headers::Entry {
  std::string name;
  HeaderValue value;
  friend bool operator==(const Entry&, const Entry&) = default;
};

}  // namespace acemq
