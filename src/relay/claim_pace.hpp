#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "acemq/clock.hpp"

namespace acemq::relay {

// Where the next claim starts looking.
//
// A claim from the beginning of the table is always right, and normally cheap. When many rows that cannot be sent stand at the
// front (a lane that waits, a snapshot that keeps dead index entries alive) each one reads past all of them. Then claims in
// between start at a low-water mark, the last row claimed, and claims from the beginning take at most a quarter of the time. The
// mark is an accelerator and never a condition of delivery: rows below it (late commits, given-back rows) are found by the next
// claim from the beginning.
class ClaimPace {
 public:
  using Instant = std::chrono::nanoseconds;

  // Nothing: from the beginning.
  std::optional<Timestamp> start(Instant now) const { return now < full_from_ ? mark_ : std::nullopt; }

  // A claim that started at `start` has returned; `last` is the created_at of its last row, if it returned any.
  void claimed(std::optional<Timestamp> start, std::optional<Timestamp> last, Instant began, Instant ended) {
    if (!start) full_from_ = ended + 3 * (ended - began);
    if (last) mark_ = last;
    looked_everywhere_ = !start;
  }

  // Rows below the mark may have become sendable.
  void drop() { mark_.reset(); }

  // When to claim again though the last claim found little: it may have started above rows that wait.
  std::optional<Instant> unfinished() const {
    if (looked_everywhere_) return std::nullopt;
    return full_from_;
  }

 private:
  std::optional<Timestamp> mark_;
  Instant full_from_{0};
  bool looked_everywhere_ = true;
};

}  // namespace acemq::relay
