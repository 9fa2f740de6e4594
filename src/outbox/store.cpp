#include "acemq/outbox/store.hpp"

namespace acemq::outbox {

std::optional<std::size_t> Store::fail(std::span<const RowFailure> /*failures*/) { return std::nullopt; }

std::optional<std::size_t> Store::release(std::span<const Lease> /*leases*/, std::string_view /*reason*/) { return std::nullopt; }

std::optional<std::size_t> Store::renew(std::span<const Lease> /*leases*/, std::chrono::microseconds /*lease*/) {
  return std::nullopt;
}

std::optional<Backlog> Store::backlog(std::int32_t /*attempts_max*/) { return std::nullopt; }

std::vector<RetiredRow> Store::retired(std::int32_t /*attempts_max*/, std::size_t /*rows_max*/) { return {}; }

std::size_t Store::purge_published(Timestamp /*before*/, std::size_t /*rows_max*/) { return 0; }

}  // namespace acemq::outbox
