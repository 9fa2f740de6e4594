#include "acemq/observer.hpp"

namespace acemq {

std::string_view to_string(RelayState state) noexcept {
  switch (state) {
    case RelayState::stopped:
      return "stopped";
    case RelayState::connecting:
      return "connecting";
    case RelayState::running:
      return "running";
    case RelayState::blocked:
      return "blocked";
    case RelayState::waiting:
      return "waiting";
    case RelayState::closing:
      return "closing";
  }
  return "unknown";
}

}  // namespace acemq
