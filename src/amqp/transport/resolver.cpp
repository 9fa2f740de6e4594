#include "amqp/transport/resolver.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include <netdb.h>
#include <poll.h>

#include "amqp/transport/quiet_thread.hpp"

namespace acemq::amqp {

Resolution look_up_host(const std::string& host, std::uint16_t port, bool numeric) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (numeric ? AI_NUMERICHOST : 0);
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error == EAI_SYSTEM) return {.addresses = {}, .failure = std::generic_category().message(errno)};
  if (error != 0) return {.addresses = {}, .failure = gai_strerror(error)};

  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(found, freeaddrinfo);
  Resolution resolution;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    SocketAddress& address = resolution.addresses.emplace_back();
    address.size = info->ai_addrlen;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
  }
  return resolution;
}

struct Resolver::Query {
  Wakeup done;  // raised once the resolution stands
  std::mutex mutex;
  Resolution resolution;
};

Resolver::Resolver(std::string host, std::uint16_t port, LookUp look_up)
    : host_(std::move(host)), port_(port), look_up_(std::move(look_up)) {}

std::shared_ptr<Resolver::Query> Resolver::start() {
  auto query = std::make_shared<Query>();
  quiet_thread([query, look_up = look_up_, host = host_, port = port_] {
    Resolution resolution;
    try {
      resolution = look_up(host, port, false);
    } catch (const std::exception& error) {
      resolution.failure = error.what();
    }
    {
      const std::lock_guard lock(query->mutex);
      query->resolution = std::move(resolution);
    }
    query->done.raise();
  }).detach();
  return query;
}

Resolution Resolver::resolve(Deadline deadline, const Wakeup& cancel) {
  Resolution numeric = look_up_(host_, port_, true);
  if (!numeric.addresses.empty()) return numeric;

  if (query_ == nullptr) query_ = start();
  switch (wait_for(query_->done.descriptor(), POLLIN, cancel.descriptor(), deadline)) {
    case Waited::cancelled:
      return {.addresses = {}, .failure = "cancelled"};
    case Waited::late:
      return {.addresses = {}, .failure = "no answer in time"};
    case Waited::ready:
      break;
  }
  const auto query = std::exchange(query_, nullptr);
  const std::lock_guard lock(query->mutex);
  return std::move(query->resolution);
}

}  // namespace acemq::amqp
