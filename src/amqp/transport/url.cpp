#include "amqp/transport/url.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>

#include "acemq/error.hpp"

namespace acemq::amqp {
namespace {

constexpr std::string_view kScheme = "amqp://";
constexpr std::string_view kTlsScheme = "amqps://";
constexpr std::size_t kVhostBytesMax = 255;  // an AMQP short string
constexpr std::size_t kHostBytesMax = 255;
constexpr std::size_t kParameterNameShownMax = 32;

// The value is never shown: which part of a broken URL is the password is exactly what is not known.
[[noreturn]] void refuse(const std::string& rule) { throw InvalidConfiguration("url", rule, ""); }

[[noreturn]] void refuse_ambiguous(char character, const char* encoded) {
  refuse("has a '" + std::string(1, character) +
         "' that can be read in two ways; percent-encode special characters in user name, password and vhost (here as " +
         encoded + ")");
}

char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_ignoring_case(std::string_view text, std::string_view lower_prefix) {
  return text.size() >= lower_prefix.size() && std::equal(lower_prefix.begin(), lower_prefix.end(), text.begin(),
                                                          [](char expected, char c) { return expected == ascii_lower(c); });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_digit(c) || (ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z'); }

std::string percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2)
      refuse("has a '%' without two hexadecimal digits behind it; a percent sign itself is written %25");
    // In the login a NUL separates user name and password, and no vhost or host has one.
    if (byte == 0) refuse("must not contain %00");
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

void check_characters(std::string_view url) {
  for (const char c : url)
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      refuse("must not contain blanks or control characters; percent-encode them");
  if (url.find('#') != std::string_view::npos) refuse_ambiguous('#', "%23");
}

[[noreturn]] void refuse_parameters(std::string_view query) {
  const std::string_view name = query.substr(0, query.find_first_of("=&")).substr(0, kParameterNameShownMax);
  refuse("has the query parameter '" + std::string(name) + "', and none is supported; set AmqpOptions instead");
}

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  // What stands here may be half a password, so it is not shown.
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    refuse(
        "must have a port from 1 to 65535 behind the last ':' of the host; percent-encode special characters in user name and "
        "password");
  return port;
}

// The text between brackets: an address, perhaps with a zone (fe80::1%25eth0).
std::string parse_ipv6(std::string_view text) {
  std::string host = percent_decode(text);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), address.data()) != 1)
    refuse("must have an IPv6 address between '[' and ']'");
  return host;
}

std::string parse_name(std::string_view text) {
  std::string host = percent_decode(text);
  const bool plain =
      std::all_of(host.begin(), host.end(), [](char c) { return is_alphanumeric(c) || c == '.' || c == '-' || c == '_'; });
  if (!plain || host.size() > kHostBytesMax)
    refuse("must have a host of letters, digits, '.', '-' and '_', or an IPv6 address in brackets");
  return host;
}

void parse_host_and_port(std::string_view text, Url& url) {
  std::string_view rest;  // from the ':' on
  if (!text.empty() && text.front() == '[') {
    const auto bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse("must have an IPv6 address between '[' and ']'");
    url.host = parse_ipv6(text.substr(1, bracket - 1));
    rest = text.substr(bracket + 1);
    if (!rest.empty() && rest.front() != ':') refuse("must have ':' and the port behind ']', or nothing");
  } else {
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) rest = text.substr(colon);
    if (const auto name = text.substr(0, colon); !name.empty()) url.host = parse_name(name);
  }
  if (rest.size() > 1) url.port = parse_port(rest.substr(1));
}

void parse_user_and_password(std::string_view text, Url& url) {
  const auto colon = text.find(':');
  url.user = percent_decode(text.substr(0, colon));
  if (colon == std::string_view::npos) return;
  const std::string_view password = text.substr(colon + 1);
  if (password.find(':') != std::string_view::npos) refuse_ambiguous(':', "%3A");
  url.password = percent_decode(password);
}

void parse_vhost(std::string_view text, Url& url) {
  // An '@' here means that a '/' in the password ended the host early.
  if (text.find_first_of("/@") != std::string_view::npos) refuse_ambiguous('/', "%2F");
  url.vhost = percent_decode(text);
  if (url.vhost.size() > kVhostBytesMax) refuse("must have a vhost of at most 255 bytes");
}

}  // namespace

Url parse_url(std::string_view text) {
  if (starts_with_ignoring_case(text, kTlsScheme))
    refuse("asks for TLS (amqps), which is not available in this version; use amqp://");
  if (!starts_with_ignoring_case(text, kScheme)) refuse("must begin with amqp://");
  text.remove_prefix(kScheme.size());
  check_characters(text);
  const auto question = text.find('?');
  if (question != std::string_view::npos && text.find('@', question) != std::string_view::npos) refuse_ambiguous('?', "%3F");
  const std::string_view query = question == std::string_view::npos ? "" : text.substr(question + 1);
  text = text.substr(0, question);

  Url url;
  const auto slash = text.find('/');
  if (slash != std::string_view::npos) parse_vhost(text.substr(slash + 1), url);
  std::string_view authority = text.substr(0, slash);
  if (const auto at = authority.find('@'); at != std::string_view::npos) {
    if (authority.find('@', at + 1) != std::string_view::npos) refuse_ambiguous('@', "%40");
    parse_user_and_password(authority.substr(0, at), url);
    authority.remove_prefix(at + 1);
  }
  parse_host_and_port(authority, url);
  // Last: by now it is certain that the names of the parameters are no part of a password.
  if (!query.empty()) refuse_parameters(query);
  return url;
}

std::string endpoint(const Url& url) {
  const bool is_ipv6 = url.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
}

std::string describe(const Url& url) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text = endpoint(url) + "/";
  for (const char c : url.vhost) {
    if (is_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return text;
}

}  // namespace acemq::amqp
