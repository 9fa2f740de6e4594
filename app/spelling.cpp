#include "app/spelling.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace acemq::app {
namespace {

// How many letters must be inserted, deleted, replaced or swapped with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before_last(to.size() + 1), last(to.size() + 1), row(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[to.size()];
}

constexpr std::size_t kLettersMax = 40;  // a longer word is no misspelling of ours

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> words) {
  if (word.empty() || word.size() > kLettersMax) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : words) {
    const std::size_t d = distance(word, candidate);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string spelling_hint(std::string_view word, std::span<const std::string> words) {
  if (const std::string near = nearest(word, words); !near.empty()) return "did you mean " + near + "?";
  std::string list;
  for (const std::string& candidate : words) list += (list.empty() ? "there are: " : ", ") + candidate;
  return list;
}

}  // namespace acemq::app
