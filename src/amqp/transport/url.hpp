// amqp:// URLs, as RabbitMQ's URI specification has them but for what could be read in two ways.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace acemq::amqp {

struct Url {
  std::string host = "localhost";  // a name or an address, without brackets
  std::uint16_t port = 5672;
  std::string user = "guest";
  std::string password = "guest";
  std::string vhost = "/";
};

// amqp://user:password@host:port/vhost, every part but the scheme optional and percent-encoded as needed, IPv6 hosts in
// brackets. Without a path the vhost is "/", but the path "/" names the *empty* vhost, as RabbitMQ's specification wants it;
// "/" itself is written /%2f. There are no query parameters.
//
// An unencoded character that makes a part ambiguous ('@', ':', '/', '?', '#' in a password) is refused with a hint rather than
// guessed at. Throws InvalidConfiguration; nothing of a user name, password or wrongly read part is in its text.
Url parse_url(std::string_view url);

// host:port, the host in brackets when it is an IPv6 address.
std::string endpoint(const Url& url);
// Where messages go, for people: host:port/vhost, the vhost percent-encoded. No user name, no password.
std::string describe(const Url& url);

}  // namespace acemq::amqp
