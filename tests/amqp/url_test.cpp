#include "amqp/transport/url.hpp"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acemq/error.hpp"

namespace acemq::amqp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Accepted {
  std::string text;
  Url expected;
};

void PrintTo(const Accepted& accepted, std::ostream* out) { *out << accepted.text; }

class AcceptedUrl : public ::testing::TestWithParam<Accepted> {};

// Every part is read as RabbitMQ's URI specification says, and arrives byte for byte: table of URLs.
TEST_P(AcceptedUrl, B36_ExactBytesReachTheServer) {
  const Url url = parse_url(GetParam().text);
  const Url& expected = GetParam().expected;
  EXPECT_EQ(url.host, expected.host);
  EXPECT_EQ(url.port, expected.port);
  EXPECT_EQ(url.user, expected.user);
  EXPECT_EQ(url.password, expected.password);
  EXPECT_EQ(url.vhost, expected.vhost);
}

INSTANTIATE_TEST_SUITE_P(
    Parts, AcceptedUrl,
    ::testing::ValuesIn(std::vector<Accepted>{
        {"amqp://", {}},
        {"amqp://mq", {.host = "mq"}},
        {"AMQP://mq", {.host = "mq"}},
        {"amqp://mq.example:5673", {.host = "mq.example", .port = 5673}},
        {"amqp://:5673", {.port = 5673}},
        {"amqp://mq:/v", {.host = "mq", .vhost = "v"}},
        {"amqp://mq/", {.host = "mq", .vhost = ""}},
        {"amqp://mq/%2f", {.host = "mq", .vhost = "/"}},
        {"amqp://mq/%2F", {.host = "mq", .vhost = "/"}},
        {"amqp://mq/a%2fb", {.host = "mq", .vhost = "a/b"}},
        {"amqp://mq/v%68ost", {.host = "mq", .vhost = "vhost"}},
        {"amqp://h%6fst", {.host = "host"}},
        {"amqp:///vhost", {.vhost = "vhost"}},
        {"amqp://shop@mq", {.host = "mq", .user = "shop"}},
        {"amqp://shop:@mq", {.host = "mq", .user = "shop", .password = ""}},
        {"amqp://:@/", {.user = "", .password = "", .vhost = ""}},
        {"amqp://shop:secret@mq:1/v", {.host = "mq", .port = 1, .user = "shop", .password = "secret", .vhost = "v"}},
        {"amqp://shop:secret@mq:65535/v", {.host = "mq", .port = 65535, .user = "shop", .password = "secret", .vhost = "v"}},
        {"amqp://us%3Aer:p%40ss%23w%25rd%2F%3F%26%2B%20@mq/%2F", {.host = "mq", .user = "us:er", .password = "p@ss#w%rd/?&+ "}},
        {"amqp://u:a+b&c=d!$'()*,;[]^|@mq", {.host = "mq", .user = "u", .password = "a+b&c=d!$'()*,;[]^|"}},
        {"amqp://u:%2525@mq", {.host = "mq", .user = "u", .password = "%25"}},
        {"amqp://u:gr%C3%BC%C3%9F@mq", {.host = "mq", .user = "u", .password = "gr\xC3\xBC\xC3\x9F"}},
        {"amqp://[::1]", {.host = "::1"}},
        {"amqp://u:p@[2001:db8::7]:5673/v", {.host = "2001:db8::7", .port = 5673, .user = "u", .password = "p", .vhost = "v"}},
        {"amqp://[fe80::1%25lo]/v", {.host = "fe80::1%lo", .vhost = "v"}},
    }));

struct Refused {
  std::string text;
  std::string hint;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.text; }

class RefusedUrl : public ::testing::TestWithParam<Refused> {};

// What can be read in two ways, or not at all, is refused with a hint, and no part that could be the password is repeated: each
// URL has "5ecret" in or near its password.
TEST_P(RefusedUrl, B36_AmbiguousUrlIsRefusedWithAHint) {
  try {
    parse_url(GetParam().text);
    FAIL() << "accepted";
  } catch (const InvalidConfiguration& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(GetParam().hint), Not(HasSubstr("5ecret"))));
    EXPECT_THAT(error.value(), Not(HasSubstr("5ecret")));
    EXPECT_EQ(error.field(), "url");
  }
}

INSTANTIATE_TEST_SUITE_P(Reasons, RefusedUrl,
                         ::testing::ValuesIn(std::vector<Refused>{
                             {"amqp://shop:p@5ecret@mq/v", "%40"},
                             {"amqp://shop:p:5ecret@mq/v", "%3A"},
                             {"amqp://shop:p/5ecret@mq/v", "%2F"},
                             {"amqp://shop:p?5ecret@mq/v", "%3F"},
                             {"amqp://shop:p#5ecret@mq/v", "%23"},
                             {"amqp://shop:p%5ecret@mq/v%", "%25"},
                             {"amqp://shop:5ecret%@mq/v", "%25"},
                             {"amqp://shop:5ecret%4@mq/v", "%25"},
                             {"amqp://shop:5ecret%+4@mq/v", "%25"},
                             {"amqp://shop:5ecret%00@mq/v", "%00"},
                             {"amqp://shop:5ecret @mq/v", "blanks"},
                             {"amqp://shop:5ecret@mq/v\n", "blanks"},
                             {"amqp://shop:5ecret@mq//", "%2F"},
                             {"amqp://shop:5ecret@mq/a/b", "%2F"},
                             {"amqp://shop:5ecret", "port"},
                             {"amqp://shop:5ecret@mq:0", "port"},
                             {"amqp://shop:5ecret@mq:65536", "port"},
                             {"amqp://shop:5ecret@mq:-1", "port"},
                             {"amqp://shop:5ecret@mq:5672x", "port"},
                             {"amqp://shop:5ecret@::1", "port"},
                             {"amqp://shop:5ecret@[::1", "IPv6"},
                             {"amqp://shop:5ecret@[mq]", "IPv6"},
                             {"amqp://shop:5ecret@[::1]5672", "behind ']'"},
                             {"amqp://shop:5ecret@m q", "blanks"},
                             {"amqp://shop:5ecret@m%20q", "host"},
                             {"amqp://shop:5ecret@mq/v?heartbeat=5", "'heartbeat'"},
                             {"amqps://shop:5ecret@mq/v", "TLS"},
                             {"http://shop:5ecret@mq/v", "amqp://"},
                             {"shop:5ecret@mq/v", "amqp://"},
                             {"amqp:/shop:5ecret@mq/v", "amqp://"},
                             {"", "amqp://"},
                             {"amqp://mq/" + std::string(256, 'v'), "255"},
                             {"amqp://" + std::string(256, 'h'), "host"},
                         }));

// A description holds neither user name nor password, and spells the vhost so that "/" and the empty one can be told apart.
TEST(Description, NamesHostPortAndVhostOnly) {
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@mq.example/%2f")), "mq.example:5672/%2F");
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@mq.example/")), "mq.example:5672/");
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@[::1]:1/a-b_c.d~%0A")), "[::1]:1/a-b_c.d~%0A");
}

}  // namespace
}  // namespace acemq::amqp
