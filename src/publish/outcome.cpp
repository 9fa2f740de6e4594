#include <algorithm>
#include <string>

#include "acemq/connection.hpp"

namespace acemq {
namespace {

bool is_confirmed(const PublishOutcome& outcome) { return outcome.confirmed(); }

}  // namespace

std::string_view to_string(PublishOutcome::Kind kind) noexcept {
  switch (kind) {
    case PublishOutcome::Kind::confirmed:
      return "confirmed";
    case PublishOutcome::Kind::unroutable:
      return "unroutable";
    case PublishOutcome::Kind::failed:
      return "failed";
    case PublishOutcome::Kind::refused:
      return "refused";
  }
  return "unknown";
}

void PublishOutcome::or_throw() const {
  if (failure) throw PublishError(*failure);
}

std::size_t BatchOutcome::confirmed() const noexcept {
  return static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(), is_confirmed));
}

const PublishOutcome* BatchOutcome::first_failure() const noexcept {
  const auto found = std::find_if_not(outcomes.begin(), outcomes.end(), is_confirmed);
  return found == outcomes.end() ? nullptr : &*found;
}

void BatchOutcome::or_throw() const {
  const PublishOutcome* first = first_failure();
  if (first == nullptr) return;
  Failure failure = *first->failure;
  failure.reason = std::to_string(outcomes.size() - confirmed()) + " of " + std::to_string(outcomes.size()) +
                   " messages not confirmed; the first, " + first->id + ": " + failure.reason;
  throw PublishError(std::move(failure));
}

}  // namespace acemq
