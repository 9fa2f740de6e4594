#include "acemq/headers.hpp"

#include <algorithm>

#include "acemq/error.hpp"

namespace acemq {

Headers::Headers() noexcept = default;
Headers::Headers(const Headers& other) = default;
Headers::Headers(Headers&& other) noexcept = default;
Headers& Headers::operator=(const Headers& other) = default;
Headers& Headers::operator=(Headers&& other) noexcept = default;
Headers::~Headers() = default;

Headers::Headers(std::initializer_list<Entry> entries) {
  entries_.reserve(entries.size());
  for (const Entry& entry : entries) set(entry.name, entry.value);
}

void Headers::set(std::string name, HeaderValue value) {
  for (Entry& entry : entries_) {
    if (entry.name == name) {
      entry.value = std::move(value);
      return;
    }
  }
  append_unique(std::move(name), std::move(value));
}

const HeaderValue* Headers::find(std::string_view name) const noexcept {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry.value;
  }
  return nullptr;
}

bool Headers::erase(std::string_view name) {
  return std::erase_if(entries_, [name](const Entry& entry) { return entry.name == name; }) != 0;
}

void Headers::append_unique(std::string name, HeaderValue value) { entries_.push_back({std::move(name), std::move(value)}); }

Headers::const_iterator Headers::begin() const noexcept { return entries_.begin(); }
Headers::const_iterator Headers::end() const noexcept { return entries_.end(); }
std::size_t Headers::size() const noexcept { return entries_.size(); }
bool Headers::empty() const noexcept { return entries_.empty(); }

bool operator==(const Headers& left, const Headers& right) {
  if (left.size() != right.size()) return false;
  const auto by_name = [](const Headers& headers) {
    std::vector<const Headers::Entry*> entries;
    entries.reserve(headers.size());
    for (const Headers::Entry& entry : headers) entries.push_back(&entry);
    std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    return entries;
  };
  const auto a = by_name(left), b = by_name(right);
  return std::equal(a.begin(), a.end(), b.begin(), [](const auto* x, const auto* y) { return *x == *y; });
}

bool operator==(const HeaderValue& left, const HeaderValue& right) { return left.value_ == right.value_; }

void HeaderValue::refuse_integer(std::uint64_t value) {
  throw InvalidRecord("headers", "must hold integers of at most 64 bits with sign only; send a larger one as text",
                      std::to_string(value));
}

}  // namespace acemq
