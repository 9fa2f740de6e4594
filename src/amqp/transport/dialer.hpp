#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "amqp/transport/byte_stream.hpp"
#include "amqp/transport/resolver.hpp"
#include "amqp/transport/url.hpp"
#include "amqp/transport/wakeup.hpp"

namespace acemq::amqp {

struct Dialed {
  std::unique_ptr<ByteStream> stream;
  std::string failure = {};  // why there is none, for people: "cannot connect to mq:5672: Connection refused"
};

// Opens byte streams to one broker: name resolution and TCP, under one deadline. Used by one thread.
class Dialer {
 public:
  Dialer(const Url& url, std::chrono::milliseconds timeout);
  // Ends at once when `cancel` is raised.
  Dialed dial(const Wakeup& cancel);

 private:
  std::string host_;
  std::string endpoint_;
  std::chrono::milliseconds timeout_;
  Resolver resolver_;
};

}  // namespace acemq::amqp
