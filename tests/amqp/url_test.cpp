#include "amqp/transport/url.hpp"

#include <string>

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
    ::testing::Values(
        Accepted{"amqp://", {}},  //
        Accepted{"amqp://mq", {.host = "mq"}}, Accepted{"AMQP://mq", {.host = "mq"}},
        Accepted{"amqp://mq.example:5673", {.host = "mq.example", .port = 5673}}, Accepted{"amqp://:5673", {.port = 5673}},
        Accepted{"amqp://mq:/v", {.host = "mq", .vhost = "v"}}, Accepted{"amqp://mq/", {.host = "mq", .vhost = ""}},
        Accepted{"amqp://mq/%2f", {.host = "mq", .vhost = "/"}}, Accepted{"amqp://mq/%2F", {.host = "mq", .vhost = "/"}},
        Accepted{"amqp://mq/a%2fb", {.host = "mq", .vhost = "a/b"}},
        Accepted{"amqp://mq/v%68ost", {.host = "mq", .vhost = "vhost"}}, Accepted{"amqp://h%6fst", {.host = "host"}},
        Accepted{"amqp:///vhost", {.vhost = "vhost"}}, Accepted{"amqp://shop@mq", {.host = "mq", .user = "shop"}},
        Accepted{"amqp://shop:@mq", {.host = "mq", .user = "shop", .password = ""}},
        Accepted{"amqp://:@/", {.user = "", .password = "", .vhost = ""}},
        Accepted{"amqp://shop:secret@mq:1/v", {.host = "mq", .port = 1, .user = "shop", .password = "secret", .vhost = "v"}},
        Accepted{"amqp://shop:secret@mq:65535/v",
                 {.host = "mq", .port = 65535, .user = "shop", .password = "secret", .vhost = "v"}},
        Accepted{"amqp://us%3Aer:p%40ss%23w%25rd%2F%3F%26%2B%20@mq/%2F",
                 {.host = "mq", .user = "us:er", .password = "p@ss#w%rd/?&+ "}},
        Accepted{"amqp://u:a+b&c=d!$'()*,;[]^|@mq", {.host = "mq", .user = "u", .password = "a+b&c=d!$'()*,;[]^|"}},
        Accepted{"amqp://u:%2525@mq", {.host = "mq", .user = "u", .password = "%25"}},
        Accepted{"amqp://u:gr%C3%BC%C3%9Fe@mq",
                 {.host = "mq",
                  .user = "u",
                  .password = "gr\xC3\xBC\xC3\x9F"
                              "e"}},
        Accepted{"amqp://[::1]", {.host = "::1"}},
        Accepted{"amqp://u:p@[2001:db8::7]:5673/v",
                 {.host = "2001:db8::7", .port = 5673, .user = "u", .password = "p", .vhost = "v"}},
        Accepted{"amqp://[fe80::1%25lo]/v", {.host = "fe80::1%lo", .vhost = "v"}}));

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
                         ::testing::Values(Refused{"amqp://shop:p@5ecret@mq/v", "%40"},     //
                                           Refused{"amqp://shop:p:5ecret@mq/v", "%3A"},     //
                                           Refused{"amqp://shop:p/5ecret@mq/v", "%2F"},     //
                                           Refused{"amqp://shop:p?5ecret@mq/v", "%3F"},     //
                                           Refused{"amqp://shop:p#5ecret@mq/v", "%23"},     //
                                           Refused{"amqp://shop:p%5ecret@mq/v%", "%25"},    //
                                           Refused{"amqp://shop:5ecret%@mq/v", "%25"},      //
                                           Refused{"amqp://shop:5ecret%4@mq/v", "%25"},     //
                                           Refused{"amqp://shop:5ecret%+4@mq/v", "%25"},    //
                                           Refused{"amqp://shop:5ecret%00@mq/v", "%00"},    //
                                           Refused{"amqp://shop:5ecret @mq/v", "blanks"},   //
                                           Refused{"amqp://shop:5ecret@mq/v\n", "blanks"},  //
                                           Refused{"amqp://shop:5ecret@mq//", "%2F"},       //
                                           Refused{"amqp://shop:5ecret@mq/a/b", "%2F"},     //
                                           Refused{"amqp://shop:5ecret",
                                                   "port"},  // no host: the password stands where a port would
                                           Refused{"amqp://shop:5ecret@mq:0", "port"},             //
                                           Refused{"amqp://shop:5ecret@mq:65536", "port"},         //
                                           Refused{"amqp://shop:5ecret@mq:-1", "port"},            //
                                           Refused{"amqp://shop:5ecret@mq:5672x", "port"},         //
                                           Refused{"amqp://shop:5ecret@::1", "port"},              //
                                           Refused{"amqp://shop:5ecret@[::1", "IPv6"},             //
                                           Refused{"amqp://shop:5ecret@[mq]", "IPv6"},             //
                                           Refused{"amqp://shop:5ecret@[::1]5672", "behind ']'"},  //
                                           Refused{"amqp://shop:5ecret@m q", "blanks"},            //
                                           Refused{"amqp://shop:5ecret@m%20q", "host"},            //
                                           Refused{"amqp://shop:5ecret@mq/v?heartbeat=5", "'heartbeat'"},
                                           Refused{"amqps://shop:5ecret@mq/v", "TLS"},     //
                                           Refused{"http://shop:5ecret@mq/v", "amqp://"},  //
                                           Refused{"shop:5ecret@mq/v", "amqp://"},         //
                                           Refused{"amqp:/shop:5ecret@mq/v", "amqp://"},   //
                                           Refused{"", "amqp://"}, Refused{"amqp://mq/" + std::string(256, 'v'), "255"},
                                           Refused{"amqp://" + std::string(256, 'h'), "host"}));

// A description holds neither user name nor password, and spells the vhost so that "/" and the empty one can be told apart.
TEST(Description, NamesHostPortAndVhostOnly) {
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@mq.example/%2f")), "mq.example:5672/%2F");
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@mq.example/")), "mq.example:5672/");
  EXPECT_EQ(describe(parse_url("amqp://shop:5ecret@[::1]:1/a-b_c.d~%0A")), "[::1]:1/a-b_c.d~%0A");
}

}  // namespace
}  // namespace acemq::amqp
