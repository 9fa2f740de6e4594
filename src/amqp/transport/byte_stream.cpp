#include "amqp/transport/byte_stream.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/descriptor.hpp"

namespace acemq::amqp {
namespace {

std::string words(int error) { return std::generic_category().message(error); }

bool is_temporary(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(base::Descriptor socket) : socket_(std::move(socket)) {}

  Transfer read_some(char* buffer, std::size_t size) override {
    const ssize_t count = ::recv(socket_.get(), buffer, size, 0);
    if (count > 0) return {.bytes = static_cast<std::size_t>(count)};
    if (count == 0) return {.failure = "closed by the peer"};
    return is_temporary(errno) ? Transfer{} : Transfer{.failure = words(errno)};
  }

  Transfer write_some(std::string_view bytes) override {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
    return is_temporary(errno) ? Transfer{} : Transfer{.failure = words(errno)};
  }

  int descriptor() const noexcept override { return socket_.get(); }

 private:
  base::Descriptor socket_;
};

Connected connect_one(const SocketAddress& address, Deadline deadline, const Wakeup& cancel) {
  base::Descriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {.stream = nullptr, .failure = words(errno)};
  // Messages are gathered here, so waiting for more of them in the kernel would only delay the last one.
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);

  int error = 0;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0) {
    if (errno != EINPROGRESS) return {.stream = nullptr, .failure = words(errno)};
    const Waited waited = wait_for(socket.get(), POLLOUT, cancel.descriptor(), deadline);
    if (waited != Waited::ready) return {.stream = nullptr, .failure = "no answer in time", .late = waited == Waited::late};
    socklen_t size = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) return {.stream = nullptr, .failure = words(error)};
  return {.stream = std::make_unique<TcpStream>(std::move(socket))};
}

}  // namespace

Connected connect_tcp(const std::vector<SocketAddress>& addresses, Deadline deadline, const Wakeup& cancel) {
  Connected result{.stream = nullptr, .failure = "no address"};
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto share = (deadline - SteadyClock::now()) / static_cast<std::int64_t>(addresses.size() - i);
    Connected next = connect_one(addresses[i], SteadyClock::now() + share, cancel);
    // The system puts the address that most likely works first, so its failure tells most.
    if (i == 0 || next.stream != nullptr) result = std::move(next);
    if (result.stream != nullptr) break;
  }
  return result;
}

}  // namespace acemq::amqp
