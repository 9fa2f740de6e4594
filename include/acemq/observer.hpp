// What a host may listen to: logs, metrics, alarms. The libraries themselves never log.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "acemq/error.hpp"

namespace acemq {

// Where a relay stands; `reason` beside it says why, when there is more to say than the name.
enum class RelayState {
  stopped,     // not started, or closed
  connecting,  // opening a channel
  running,     // publishing, or waiting for work
  blocked,     // the broker asked for silence; nothing is claimed
  waiting,     // an outage or a store error; trying again after a back-off
  closing,     // draining
};
std::string_view to_string(RelayState state) noexcept;

// One record that did not go out. The views are valid during the call only.
struct FailureReport {
  const Failure& failure;
  std::string_view id = {};  // all three are empty when no record was in hand (store error, outage)
  std::string_view exchange = {};
  std::string_view routing_key = {};
  std::int32_t attempts = 0;  // after this failure
  bool counted = false;
  bool retired = false;               // this failure used up the last attempt
  std::chrono::milliseconds wait{0};  // until the next attempt
};

struct DeliveryReport {
  std::string_view id = {};
  std::string_view exchange = {};
  std::string_view routing_key = {};
  std::chrono::microseconds lag{0};  // from created_at to the confirm, never negative
  bool overtook = false;             // confirmed although an earlier record of its lane had failed
};

// Called on the relay's thread, between its steps: return quickly. What a callback throws is contained and changes nothing.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_state(RelayState /*state*/, std::string_view /*reason*/) {}
  virtual void on_delivered(const DeliveryReport& /*report*/) {}
  virtual void on_failed(const FailureReport& /*report*/) {}
  // Fenced writes that found the rows taken by another relay.
  virtual void on_conflict(std::uint64_t /*rows*/) {}
};

}  // namespace acemq
