#include "rabbit.hpp"

#include <cstdlib>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string_view>

#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.hpp"

namespace acemq::bench {

namespace {

constexpr std::uint16_t kPrefetch = 1000;
constexpr std::uint64_t kAcknowledgeEvery = 100;

amqp_bytes_t bytes(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }

class Login {
 public:
  explicit Login(const Broker& broker) : handle(amqp_new_connection()) {
    amqp_socket_t* socket = amqp_tcp_socket_new(handle);
    if (socket == nullptr || amqp_socket_open(socket, broker.host.c_str(), broker.port) != 0) {
      throw std::runtime_error("librabbitmq cannot connect");
    }
    check(amqp_login(handle, broker.vhost.c_str(), 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, broker.user.c_str(),
                     broker.password.c_str()));
    amqp_channel_open(handle, 1);
    check(amqp_get_rpc_reply(handle));
  }
  ~Login() { amqp_destroy_connection(handle); }
  Login(const Login&) = delete;
  Login& operator=(const Login&) = delete;

  void check(const amqp_rpc_reply_t& reply) const {
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) throw std::runtime_error("librabbitmq: the broker refused a call");
  }

  amqp_connection_state_t handle;
};

std::size_t number_of(const amqp_bytes_t& body) {
  constexpr std::string_view kStart = R"({"n":)";
  const std::string_view text(static_cast<const char*>(body.bytes), body.len);
  if (text.substr(0, kStart.size()) != kStart) throw std::runtime_error("a message that is not ours is in the queue");
  return std::strtoull(text.data() + kStart.size(), nullptr, 10);
}

}  // namespace

struct Consumer::Shared {
  std::atomic<bool> ready{false};
  std::atomic<std::uint64_t> received{0}, duplicates{0};
  std::size_t size = 0;
  // `size` of them follow.
  std::atomic<std::int64_t>* arrivals() { return reinterpret_cast<std::atomic<std::int64_t>*>(this + 1); }
};

Consumer::Consumer(const Broker& broker, const std::string& queue, std::size_t messages_max)
    : bytes_(sizeof(Shared) + messages_max * sizeof(std::atomic<std::int64_t>)) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  shared_ = new (memory) Shared;  // what follows is zero, which is what an atomic integer begins as
  shared_->size = messages_max;

  child_ = fork();
  if (child_ < 0) throw std::runtime_error("cannot start the consumer");
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // whatever becomes of us, it does not stay behind
    try {
      consume(broker, queue);
    } catch (const std::exception& error) {
      std::cerr << "consumer: " << error.what() << '\n';
    }
    _exit(1);
  }
  wait_until([this] { return shared_->ready.load(); }, std::chrono::seconds(10), "the consumer");
}

Consumer::~Consumer() {
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  munmap(shared_, bytes_);
}

void Consumer::consume(const Broker& broker, const std::string& queue) {
  const Login login(broker);
  amqp_basic_qos(login.handle, 1, 0, kPrefetch, 0);
  login.check(amqp_get_rpc_reply(login.handle));
  amqp_basic_consume(login.handle, 1, bytes(queue), amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
  login.check(amqp_get_rpc_reply(login.handle));
  shared_->ready = true;

  std::uint64_t last = 0, unacknowledged = 0;
  const auto acknowledge = [&] {
    if (unacknowledged == 0) return;
    amqp_basic_ack(login.handle, 1, last, 1);
    unacknowledged = 0;
  };
  for (;;) {
    amqp_maybe_release_buffers(login.handle);
    amqp_envelope_t envelope;
    timeval patience{0, 5000};
    const amqp_rpc_reply_t reply = amqp_consume_message(login.handle, &envelope, &patience, 0);
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT) {
      acknowledge();
      continue;
    }
    login.check(reply);
    const std::size_t number = number_of(envelope.message.body);
    if (number >= shared_->size) throw std::runtime_error("a message has a number beyond the last");
    std::int64_t absent = 0;
    const bool first = shared_->arrivals()[number].compare_exchange_strong(absent, now().count());
    ++(first ? shared_->received : shared_->duplicates);
    last = envelope.delivery_tag;
    amqp_destroy_envelope(&envelope);
    if (++unacknowledged == kAcknowledgeEvery) acknowledge();
  }
}

void Consumer::forget() {
  for (std::size_t number = 0; number < shared_->size; ++number) shared_->arrivals()[number] = 0;
  shared_->received = 0;
  shared_->duplicates = 0;
}

std::size_t Consumer::received() const { return shared_->received; }
std::size_t Consumer::duplicates() const { return shared_->duplicates; }
std::chrono::nanoseconds Consumer::arrival(std::size_t number) const {
  return std::chrono::nanoseconds(shared_->arrivals()[number].load());
}

struct PlainPublisher::Connection : Login {
  using Login::Login;
};

PlainPublisher::PlainPublisher(const Broker& broker) : connection_(std::make_unique<Connection>(broker)) {
  amqp_confirm_select(connection_->handle, 1);
  connection_->check(amqp_get_rpc_reply(connection_->handle));
}
PlainPublisher::~PlainPublisher() = default;

void PlainPublisher::publish(const std::string& exchange, const std::string& routing_key, const std::string& id,
                             const std::string& body) {
  const std::string content_type = "application/json";
  amqp_table_entry_t header{};
  header.key = amqp_cstring_bytes("x-acemq-id");
  header.value.kind = AMQP_FIELD_KIND_UTF8;
  header.value.value.bytes = bytes(id);
  amqp_basic_properties_t properties{};
  properties._flags =
      AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_HEADERS_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.content_type = bytes(content_type);
  properties.headers = {1, &header};
  properties.delivery_mode = 2;
  properties.message_id = bytes(id);
  amqp_connection_state_t handle = connection_->handle;
  amqp_basic_publish(handle, 1, bytes(exchange), bytes(routing_key), 1, 0, &properties, bytes(body));

  amqp_frame_t frame;
  timeval patience{10, 0};
  if (amqp_simple_wait_frame_noblock(handle, &frame, &patience) != AMQP_STATUS_OK || frame.frame_type != AMQP_FRAME_METHOD ||
      frame.payload.method.id != AMQP_BASIC_ACK_METHOD) {
    throw std::runtime_error("librabbitmq: no confirm");
  }
  amqp_maybe_release_buffers(handle);
}

}  // namespace acemq::bench
