// The unconfirmed messages of one channel: which delivery tag is whose, and what came back.
//
// Delivery tags count the publishes of a channel from 1, so a new channel begins with new Confirms and nothing of an older one
// can settle here. Confirms come one by one or for everything up to a tag, in any order; one that is unknown or repeated
// changes nothing. The work is linear in the number of messages: nothing below the lowest open tag is ever looked at again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "amqp/session/session.hpp"

namespace acemq::amqp {

class Confirms {
 public:
  // `channel` is what the events say.
  explicit Confirms(ChannelId channel) noexcept : channel_(channel) {}

  // The next delivery tag belongs to `ticket`.
  void published(std::uint64_t ticket, std::string_view message_id);

  // basic.return comes before the ack of the same message, and names it by its id: it is the earliest open one with that id
  // which has not been returned yet. False when there is none.
  bool returned(std::string_view message_id, std::uint16_t code, std::string_view text);

  // basic.ack and basic.nack. Appends what became of each ticket, lowest tag first. False when there was none.
  bool acked(std::uint64_t tag, bool multiple, std::vector<SessionEvent>& events);
  bool nacked(std::uint64_t tag, bool multiple, std::vector<SessionEvent>& events);

 private:
  // The open messages of one id that have not been returned, usually one. They are linked by Entry::next_of_id.
  struct SameId {
    std::uint64_t first = 0, last = 0;  // tags
  };
  using Ids = std::unordered_map<std::string, SameId>;

  struct Entry {
    std::uint64_t ticket = 0;
    Ids::value_type* id = nullptr;  // valid while this entry may be returned
    std::uint64_t next_of_id = 0;   // tag; meaningless in the last one
    bool settled = false;
    bool is_returned = false;
    std::uint16_t return_code = 0;
    std::string return_text = {};
  };

  Entry& entry(std::uint64_t tag) { return entries_[tag - lowest_]; }
  bool settle(std::uint64_t tag, bool multiple, bool ack, std::vector<SessionEvent>& events);
  bool settle_one(std::uint64_t tag, bool ack, std::vector<SessionEvent>& events);
  void advance(Ids::value_type& id);

  ChannelId channel_;
  std::deque<Entry> entries_;  // tags from lowest_ on; the first one is open
  std::uint64_t lowest_ = 1;
  Ids ids_;
};

}  // namespace acemq::amqp
