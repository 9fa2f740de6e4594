#include "message/json_text.hpp"

#include "base/utf8.hpp"

namespace acemq::message {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Recursive descent over one text; the bound on nesting bounds the stack. Every step returns whether it succeeded, and leaves
// the position where it stopped.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  JsonFault fault() const { return {at_, reason_}; }

  bool document() { return element(0) && (at_ == text_.size() || fail("expected the end")); }

 private:
  // A value with the white space around it.
  bool element(std::size_t depth) {
    space();
    if (!value(depth)) return false;
    space();
    return true;
  }

  bool value(std::size_t depth) {
    switch (peek()) {
      case '{':
        return container(depth, '}', &Checker::member);
      case '[':
        return container(depth, ']', &Checker::element);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool container(std::size_t depth, char close, bool (Checker::*item)(std::size_t)) {
    if (depth == kJsonNestingMax) return fail("nested too deeply");
    ++at_;
    space();
    if (take(close)) return true;
    do {
      if (!(this->*item)(depth + 1)) return false;
    } while (take(','));
    return take(close) || fail(close == '}' ? "expected , or }" : "expected , or ]");
  }

  bool member(std::size_t depth) {
    space();
    if (peek() != '"') return fail("expected a name in quotation marks");
    if (!string()) return false;
    space();
    return take(':') ? element(depth) : fail("expected :");
  }

  bool string() {
    ++at_;
    while (!take('"')) {
      if (at_ == text_.size()) return fail("a string has no end");
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return fail("a control character must be escaped");
      if (!(take('\\') ? escape() : ++at_ != 0)) return false;
    }
    return true;
  }

  bool escape() {
    if (take('u')) {
      for (int i = 0; i < 4; ++i, ++at_) {
        if (!is_hex(peek())) return fail("expected four hexadecimal digits");
      }
      return true;
    }
    if (peek() == '\0' || std::string_view("\"\\/bfnrt").find(peek()) == std::string_view::npos) return fail("unknown escape");
    ++at_;
    return true;
  }

  bool word(std::string_view expected) {
    for (const char c : expected) {
      if (!take(c)) return fail("expected a value");
    }
    return true;
  }

  bool number() {
    const bool negative = take('-');
    if (!is_digit(peek())) return fail(negative ? "expected a digit" : "expected a value");
    if (!take('0')) digits();
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  bool digits() {
    if (!is_digit(peek())) return fail("expected a digit");
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool fail(std::string_view reason) {
    reason_ = reason;
    return false;
  }
  // NUL stands for the end; where a real one would be good, nothing asks here.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  void space() {
    while (take(' ') || take('\t') || take('\n') || take('\r')) continue;
  }

  std::string_view text_;
  std::string_view reason_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  if (const std::size_t valid = base::utf8_valid_bytes(text); valid != text.size()) return JsonFault{valid, "not UTF-8"};
  Checker checker(text);
  if (!checker.document()) return checker.fault();
  return std::nullopt;
}

}  // namespace acemq::message
