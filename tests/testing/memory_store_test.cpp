#include "acemq/testing/memory_store.hpp"

#include <string>

#include <gmock/gmock.h>

#include "acemq/error.hpp"
#include "acemq/testing/manual_clock.hpp"

namespace acemq::test {
namespace {

using testing::ManualClock;
using testing::MemoryStore;

outbox::Record make_record(outbox::RecordOptions options, std::string body = "{}") {
  static const MessageOrigin origin{{.origin = "memory@test"}};
  options.to = options.to.empty() ? "order.placed" : options.to;
  return outbox::make_record(origin, std::move(body), "application/json", std::move(options));
}

// The field in which the second record differs from the first, as the store reports it.
std::string conflict(const outbox::Record& first, const outbox::Record& second) {
  const ManualClock clock;
  MemoryStore store(clock);
  store.add(first);
  try {
    store.add(second);
  } catch (const IdConflict& error) {
    return error.what();
  }
  EXPECT_EQ(store.rows().size(), 1u);
  return "";
}

// A retried request makes the same message: trace context and times may differ, content may not.
TEST(MemoryStoreTest, AddingTwiceIsHarmlessOnlyWithTheSameContent) {
  const auto first = make_record({.id = "1", .headers = {{"tenant", "acme"}, {"traceparent", "00-a"}}});
  EXPECT_EQ(conflict(first, make_record({.id = "1", .headers = {{"traceparent", "00-b"}, {"tenant", "acme"}}})), "");
  EXPECT_THAT(conflict(first, make_record({.id = "1", .headers = {{"tenant", "other"}}})), ::testing::HasSubstr("headers"));
  EXPECT_THAT(conflict(first, make_record({.to = "x", .type = "order.placed", .id = "1"})), ::testing::HasSubstr("routing_key"));
  EXPECT_THAT(conflict(first, make_record({.exchange = "x", .id = "1"})), ::testing::HasSubstr("exchange"));
  EXPECT_THAT(conflict(first, make_record({.type = "x", .id = "1"})), ::testing::HasSubstr("type"));
  EXPECT_THAT(conflict(first, make_record({.version = 2, .id = "1"})), ::testing::HasSubstr("version"));
  EXPECT_THAT(conflict(first, make_record({.id = "1", .headers = {{"tenant", "acme"}}}, "[]")), ::testing::HasSubstr("body"));
}

// What record() would refuse is refused here as well; add_row() takes anything, as a table does.
TEST(MemoryStoreTest, AnInvalidRecordIsRefusedAndARowIsNot) {
  const ManualClock clock;
  MemoryStore store(clock);
  outbox::Record record = make_record({.id = "1"});
  record.id = std::string(65, 'x');
  EXPECT_THROW(store.add(record), InvalidRecord);
  store.add_row({.id = "broken",
                 .exchange = "",
                 .routing_key = "",
                 .body = "?",
                 .body_encoding = "rot13",
                 .content_type = "",
                 .headers = "not JSON",
                 .created_at = {},
                 .attempts = 3});
  ASSERT_EQ(store.rows().size(), 1u);
  EXPECT_EQ(store.claim({.token = "a"}).at(0).headers, "not JSON");
}

// fail_next() breaks that many calls and no more, whichever they are.
TEST(MemoryStoreTest, CallsFailAsOftenAsAskedFor) {
  const ManualClock clock;
  MemoryStore store(clock);
  store.add(make_record({.id = "1"}));
  store.fail_next(2, "disk full");
  EXPECT_THROW(store.claim({.token = "a"}), StoreError);
  EXPECT_THROW(store.backlog(10), StoreError);
  EXPECT_EQ(store.claim({.token = "a"}).size(), 1u);
}

}  // namespace
}  // namespace acemq::test
