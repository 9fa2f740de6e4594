#include "message/headers_json.hpp"

#include <charconv>
#include <cstddef>

namespace acemq::message {
namespace {

// Recursive: the depth has been checked.
class Writer {
 public:
  void table(const Headers& headers) {
    char separator = '{';
    for (const auto& [name, value] : headers) {
      json_ += separator;
      string(name);
      json_ += ':';
      this->value(value);
      separator = ',';
    }
    json_ += headers.empty() ? "{}" : "}";
  }
  std::string take() { return std::move(json_); }

 private:
  void value(const HeaderValue& value) {
    if (const auto* text = value.as_string()) return string(*text);
    if (const auto* integer = value.as_int()) return literal(std::to_string(*integer));
    if (const auto* real = value.as_double()) return floating(*real);
    if (const auto* flag = value.as_bool()) return literal(*flag ? "true" : "false");
    if (const auto* items = value.as_list()) return list(*items);
    if (const auto* nested = value.as_table()) return table(*nested);
    literal("null");
  }

  void list(const HeaderList& items) {
    char separator = '[';
    for (const HeaderValue& item : items) {
      json_ += separator;
      value(item);
      separator = ',';
    }
    json_ += items.empty() ? "[]" : "]";
  }

  void literal(std::string_view text) { json_ += text; }

  // A reader must be able to tell it from an integer.
  void floating(double value) {
    char digits[32];
    const std::string_view text(digits,
                                static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
    literal(text);
    if (text.find_first_of(".e") == std::string_view::npos) literal(".0");
  }

  void string(std::string_view text) {
    json_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        json_ += '\\';
        json_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        control(c);
      } else {
        json_ += c;
      }
    }
    json_ += '"';
  }

  void control(char c) {
    constexpr std::string_view kShort = "\b\t\n\f\r", kLetters = "btnfr";
    json_ += '\\';
    if (const auto i = kShort.find(c); i != std::string_view::npos) {
      json_ += kLetters[i];
      return;
    }
    json_ += "u00";
    json_ += "01"[c >> 4];
    json_ += "0123456789abcdef"[c & 15];
  }

  std::string json_;
};

}  // namespace

std::string to_json(const Headers& headers) {
  Writer writer;
  writer.table(headers);
  return writer.take();
}

}  // namespace acemq::message
