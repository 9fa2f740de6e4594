#include "amqp/session/confirms.hpp"

#include <utility>

namespace acemq::amqp {

void Confirms::published(std::uint64_t ticket, std::string_view message_id) {
  const std::uint64_t tag = lowest_ + entries_.size();
  const auto [position, is_new] = ids_.try_emplace(std::string(message_id));
  SameId& same = position->second;
  if (is_new) {
    same.first = tag;
  } else {
    entry(same.last).next_of_id = tag;
  }
  same.last = tag;
  entries_.push_back({.ticket = ticket, .id = &*position});
}

bool Confirms::returned(std::string_view message_id, std::uint16_t code, std::string_view text) {
  const auto position = ids_.find(std::string(message_id));
  if (position == ids_.end()) return false;
  Entry& found = entry(position->second.first);
  found.is_returned = true;
  found.return_code = code;
  found.return_text = text;
  advance(*position);
  return true;
}

bool Confirms::acked(std::uint64_t tag, bool multiple, std::vector<SessionEvent>& events) {
  return settle(tag, multiple, true, events);
}

bool Confirms::nacked(std::uint64_t tag, bool multiple, std::vector<SessionEvent>& events) {
  return settle(tag, multiple, false, events);
}

bool Confirms::settle(std::uint64_t tag, bool multiple, bool ack, std::vector<SessionEvent>& events) {
  const std::uint64_t end = lowest_ + entries_.size();
  if (multiple && tag == 0) tag = end - 1;  // everything
  bool matched = false;
  if (tag >= lowest_ && tag < end) {
    for (std::uint64_t each = multiple ? lowest_ : tag; each <= tag; ++each) matched |= settle_one(each, ack, events);
  }
  while (!entries_.empty() && entries_.front().settled) {
    entries_.pop_front();
    ++lowest_;
  }
  return matched;
}

bool Confirms::settle_one(std::uint64_t tag, bool ack, std::vector<SessionEvent>& events) {
  using Kind = SessionEvent::Kind;
  Entry& settled = entry(tag);
  if (settled.settled) return false;
  settled.settled = true;
  SessionEvent event{.kind = ack ? Kind::confirmed : Kind::nacked, .channel = channel_, .ticket = settled.ticket};
  if (ack && settled.is_returned) {
    event.kind = Kind::returned;
    event.code = settled.return_code;
    event.text = std::move(settled.return_text);
  }
  events.push_back(std::move(event));
  if (!settled.is_returned && settled.id->second.first == tag) advance(*settled.id);
  return true;
}

// Moves the start of the chain to the next message that is still open and was not returned. A chain that ends is forgotten.
// Its entries are there: none is dropped before all below it are settled, and the chain rises.
void Confirms::advance(Ids::value_type& id) {
  SameId& same = id.second;
  while (entry(same.first).settled || entry(same.first).is_returned) {
    if (same.first == same.last) {
      ids_.erase(ids_.find(id.first));
      return;
    }
    same.first = entry(same.first).next_of_id;
  }
}

}  // namespace acemq::amqp
