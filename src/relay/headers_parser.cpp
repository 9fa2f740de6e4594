#include "relay/headers_parser.hpp"

#include <cstdint>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "message/limits.hpp"

namespace acemq::relay {
namespace {

// Builds Headers straight from the parser's events: no intermediate tree, and the nesting is bounded before memory is spent on
// it.
class HeadersBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeadersBuilder(std::string& reason) : reason_(reason) {}

  bool null() override { return add(HeaderValue(nullptr)); }
  bool boolean(bool value) override { return add(HeaderValue(value)); }
  bool number_integer(number_integer_t value) override { return add(HeaderValue(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return refuse("an integer beyond 64 bits");
    return add(HeaderValue(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    // The parser turns integers that fit no integer type into doubles without a word.
    if (text.find_first_of(".eE") == string_t::npos) return refuse("an integer beyond 64 bits");
    return add(HeaderValue(value));
  }
  bool string(string_t& value) override { return add(HeaderValue(std::move(value))); }
  bool binary(binary_t& /*value*/) override { return refuse("binary data"); }

  bool start_object(std::size_t /*elements*/) override { return open(true); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*elements*/) override { return open(false); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().name = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& /*error*/) override {
    return refuse("not JSON at byte " + std::to_string(position));
  }

  Headers take() { return std::move(result_); }

 private:
  struct Level {
    bool is_table;
    std::string name = {};  // of the value to come
    Headers table = {};
    std::unordered_set<std::string> names = {};  // seen in this table
    HeaderList list = {};
  };

  bool refuse(const std::string& what) {
    reason_ = "headers: " + what;
    return false;
  }

  bool add(HeaderValue value) {
    if (levels_.empty()) return refuse("not a JSON object");
    Level& level = levels_.back();
    if (!level.is_table)
      level.list.push_back(std::move(value));
    else if (level.names.insert(level.name).second)
      level.table.append_unique(std::move(level.name), std::move(value));
    else
      level.table.set(std::move(level.name), std::move(value));
    return true;
  }

  bool open(bool is_table) {
    if (levels_.empty() && !is_table) return refuse("not a JSON object");
    if (levels_.size() > message::kHeaderNestingMax) return refuse("nested more than 32 levels deep");
    levels_.push_back({.is_table = is_table});
    return true;
  }

  bool close() {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) {
      result_ = std::move(done.table);
      return true;
    }
    return add(done.is_table ? HeaderValue(std::move(done.table)) : HeaderValue(std::move(done.list)));
  }

  std::string& reason_;
  std::vector<Level> levels_;
  Headers result_;
};

}  // namespace

std::optional<Headers> parse_headers(std::string_view json, std::string& reason) {
  if (json.empty()) return Headers{};
  HeadersBuilder builder(reason);
  if (!nlohmann::json::sax_parse(json, &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace acemq::relay
