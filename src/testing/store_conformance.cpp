#include "acemq/testing/store_conformance.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "acemq/message_factory.hpp"

namespace acemq::testing {

namespace {

using outbox::Backlog;
using outbox::Claim;
using outbox::Lease;
using outbox::Record;
using outbox::Row;
using outbox::RowFailure;
using outbox::Store;
using std::chrono::microseconds;
using std::chrono::seconds;
using Ids = std::vector<std::string>;

constexpr seconds kLease{60};
constexpr std::int32_t kAttemptsMax = 10;

// Ends a case that the store cannot run.
struct Skip {
  std::string reason;
};

std::string show(const std::string& text) { return "\"" + text + "\""; }
template <class Number>
requires std::is_arithmetic_v<Number> std::string show(Number number) { return std::to_string(number); }
std::string show(const Ids& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : " ") + id;
  return "[" + text + "]";
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw ConformanceFailure(what);
}

template <class T>
void expect_equal(const T& actual, const T& expected, const std::string& what) {
  expect(actual == expected, what + ": expected " + show(expected) + ", found " + show(actual));
}
void expect_equal(const std::string& actual, const char* expected, const std::string& what) {
  expect_equal(actual, std::string(expected), what);
}

template <class T>
T need(std::optional<T> answer, const char* function) {
  if (!answer) throw Skip{std::string("this store has no ") + function};
  return *std::move(answer);
}

struct Lane {
  std::string exchange = "shop-events";
  std::string routing_key = "order.placed";
};

Ids ids_of(const std::vector<Row>& rows) {
  Ids ids;
  for (const Row& row : rows) ids.push_back(row.id);
  return ids;
}

// A table, one relay's store over it and the steps that cases share.
class Bench {
 public:
  explicit Bench(StoreSubject& subject) : subject_(subject), store_(subject.store()) {}

  StoreSubject& subject() { return subject_; }
  Store& store() { return *store_; }
  Timestamp now() const { return subject_.clock().now(); }

  Record record(const std::string& id, Timestamp created_at, const Lane& lane = {}, std::string body = "{}") const {
    Record record = outbox::make_record(origin_, std::move(body), "application/json",
                                        {.to = lane.routing_key, .exchange = lane.exchange, .id = id});
    record.created_at = created_at;
    return record;
  }
  // Adds a record that is a microsecond younger than the one before, all of them older than now.
  void add(const std::string& id, const Lane& lane = {}, std::string body = "{}") {
    subject_.add(record(id, start_ + microseconds(++added_), lane, std::move(body)));
  }
  void add_all(const Ids& ids, const Lane& lane = {}) {
    for (const std::string& id : ids) add(id, lane);
  }

  std::vector<Row> claim(const std::string& token, std::size_t rows_max = 100) { return claim(store(), token, rows_max); }
  static std::vector<Row> claim(Store& store, const std::string& token, std::size_t rows_max = 100) {
    return store.claim({.token = token, .rows_max = rows_max, .lease = kLease, .attempts_max = kAttemptsMax});
  }
  void expect_claim(const std::string& token, const Ids& expected, const std::string& what) {
    expect_equal(ids_of(claim(token)), expected, what);
  }

  std::size_t fail(const std::string& id, const std::string& token, bool counts = true, microseconds wait = {}) {
    return fail({.lease = {id, token}, .reason = "queue full", .counts = counts, .wait = wait});
  }
  std::size_t fail(const RowFailure& failure) { return need(store().fail({&failure, 1}), "fail()"); }
  std::size_t release(const std::string& id, const std::string& token, std::string_view reason = {}) {
    const Lease lease{id, token};
    return need(store().release({&lease, 1}, reason), "release()");
  }
  std::size_t renew(const std::string& id, const std::string& token) {
    const Lease lease{id, token};
    return need(store().renew({&lease, 1}, kLease), "renew()");
  }
  void mark(const std::string& id) { store().mark_published({&id, 1}); }
  // Uses up the attempts of a pending row.
  void retire(const std::string& id) {
    for (std::int32_t i = 0; i < kAttemptsMax; ++i) {
      claim("retiring");
      expect_equal(fail(id, "retiring"), std::size_t{1}, "failing a held row");
    }
  }

  void pass(microseconds time) {
    if (!subject_.clock_rules()) throw Skip{"this store's clock is its database's, and a test does not wait"};
    subject_.clock().advance(time);
  }
  void expect_state(const std::string& id, const char* expected) { expect_equal(subject_.state(id), expected, "state of " + id); }

 private:
  StoreSubject& subject_;
  std::shared_ptr<Store> store_;
  MessageOrigin origin_{{.origin = "conformance@test"}};
  Timestamp start_ = subject_.clock().now() - std::chrono::hours(1);
  int added_ = 0;
};

// Claiming

void an_empty_table_gives_nothing(Bench& bench) { bench.expect_claim("a", {}, "claim of an empty table"); }

void a_row_comes_back_as_it_was_added(Bench& bench) {
  const std::string body("{\"text\":\"Zürich \xF0\x9F\x9A\x80\"}");
  bench.add("one", {"ex ä", "key'\"%_"}, body);
  const std::vector<Row> rows = bench.claim("a");
  expect_equal(rows.size(), std::size_t{1}, "rows");
  expect_equal(rows[0].id, "one", "id");
  expect_equal(rows[0].exchange, "ex ä", "exchange");
  expect_equal(rows[0].routing_key, "key'\"%_", "routing key");
  expect_equal(rows[0].body, body, "body");
  expect_equal(rows[0].body_encoding, "utf-8", "body encoding");
  expect_equal(rows[0].content_type, "application/json", "content type");
  expect(rows[0].headers.find("\"x-acemq-id\":\"one\"") != std::string::npos, "the headers are the record's");
  expect(rows[0].created_at == bench.now() - std::chrono::hours(1) + microseconds(1), "created_at keeps its microseconds");
  expect_equal(rows[0].attempts, 0, "attempts");
}

void a_binary_body_comes_back_as_base64(Bench& bench) {
  bench.add("nul", {}, std::string("A\0B", 3));
  bench.add("bytes", {}, std::string("\xff\0\1", 3));
  bench.add("empty", {}, "");
  const std::vector<Row> rows = bench.claim("a");
  expect_equal(rows.size(), std::size_t{3}, "rows");
  expect_equal(rows[0].body, "QQBC", "body with a NUL");
  expect_equal(rows[0].body_encoding, "base64", "its encoding");
  expect_equal(rows[1].body, "/wAB", "body of bytes");
  expect_equal(rows[1].body_encoding, "base64", "encoding of bytes");
  expect_equal(rows[2].body, "", "empty body");
  expect_equal(rows[2].body_encoding, "utf-8", "its encoding");
}

void only_pending_rows_are_claimed(Bench& bench) {
  bench.add_all({"published", "leased", "free"});
  bench.claim("a", 2);
  bench.mark("published");
  bench.expect_claim("b", {"free"}, "claim beside a published and a leased row");
  bench.expect_state("published", "published");
  bench.expect_state("leased", "leased");
  bench.expect_state("free", "leased");
}

void rows_come_in_order_of_time_then_id(Bench& bench) {
  const Timestamp time = bench.now() - seconds(10);
  for (const char* id : {"m", "a", "z", "B"}) bench.subject().add(bench.record(id, time));
  bench.subject().add(bench.record("last", time + microseconds(1)));
  bench.subject().add(bench.record("first", time - microseconds(1)));
  bench.expect_claim("a", {"first", "B", "a", "m", "z", "last"}, "order");
}

// Days, and the texts of siblings with shorter fractions, must not disturb the order.
void order_holds_across_days_and_years(Bench& bench) {
  const auto day = std::chrono::hours(24);
  const Timestamp now = bench.now();
  bench.subject().add(bench.record("year", now - 400 * day));
  bench.subject().add(bench.record("today", now - seconds(1)));
  bench.subject().add(bench.record("yesterday", now - day));
  bench.subject().add(bench.record("epoch", Timestamp{}));
  bench.expect_claim("a", {"epoch", "year", "yesterday", "today"}, "order");
}

void a_claim_takes_at_most_rows_max(Bench& bench) {
  bench.add_all({"1", "2", "3", "4", "5"});
  expect_equal(ids_of(bench.claim("a", 2)), Ids{"1", "2"}, "first claim");
  expect_equal(ids_of(bench.claim("b", 2)), Ids{"3", "4"}, "second claim");
  expect_equal(ids_of(bench.claim("c", 2)), Ids{"5"}, "third claim");
  expect_equal(ids_of(bench.claim("d", 2)), Ids{}, "fourth claim");
}

void a_claim_takes_at_most_bytes_max(Bench& bench) {
  const std::string body(10'000, 'x');
  for (const char* id : {"1", "2", "3"}) bench.add(id, {}, body);
  const Claim claim{.token = "a", .bytes_max = 25'000, .lease = kLease};
  expect_equal(ids_of(bench.store().claim(claim)), Ids{"1", "2"}, "two rows fit");
  bench.expect_claim("b", {"3"}, "the third was left for the next claim");
}

void a_row_larger_than_bytes_max_passes_alone(Bench& bench) {
  bench.add("small");
  bench.add("large", {}, std::string(10'000, 'x'));
  bench.add("next");
  const auto claim = [&](const char* token) {
    return ids_of(bench.store().claim({.token = token, .bytes_max = 5'000, .lease = kLease}));
  };
  expect_equal(claim("a"), Ids{"small"}, "in front of the large row");
  expect_equal(claim("b"), Ids{"large"}, "the large row");
  expect_equal(claim("c"), Ids{"next"}, "behind the large row");
}

void created_from_leaves_nothing_out_for_ever(Bench& bench) {
  bench.add_all({"old", "new"});
  Claim claim{.token = "a", .lease = kLease, .created_from = bench.now() - std::chrono::hours(1) + microseconds(2)};
  const Ids first = ids_of(bench.store().claim(claim));
  expect(first == Ids{"new"} || first == Ids{"old", "new"}, "rows from created_from on are claimed, found " + show(first));
  claim.token = "b";
  claim.created_from.reset();
  const Ids second = ids_of(bench.store().claim(claim));
  expect_equal(first.size() + second.size(), std::size_t{2}, "rows of both claims");
}

void a_late_commit_with_an_early_time_is_found(Bench& bench) {
  const Timestamp time = bench.now() - seconds(10);
  bench.subject().add(bench.record("young", time));
  bench.expect_claim("a", {"young"}, "first claim");
  bench.mark("young");
  bench.subject().add(bench.record("late", time - seconds(5)));
  bench.expect_claim("b", {"late"}, "a row from before the last one seen");
}

void two_stores_never_claim_the_same_row(Bench& bench) {
  const std::shared_ptr<Store> other = bench.subject().store();
  std::set<std::string> added;
  for (int i = 0; i < 50; ++i) {
    bench.add("row-" + std::to_string(i));
    added.insert("row-" + std::to_string(i));
  }
  std::map<std::string, int> seen;
  for (int round = 0; round < 5; ++round) {
    for (const Row& row : Bench::claim(bench.store(), "a" + std::to_string(round), 7)) ++seen[row.id];
    for (const Row& row : Bench::claim(*other, "b" + std::to_string(round), 3)) ++seen[row.id];
  }
  expect_equal(seen.size(), added.size(), "distinct rows claimed");
  for (const auto& [id, times] : seen) expect_equal(times, 1, "claims of " + id);
}

void odd_ids_are_found_again(Bench& bench) {
  const Ids ids{"it's", "\"quoted\"", "semi;colon--", "%_\\", "Zürich \xF0\x9F\x9A\x80", " space ", "0123", "1e3", "NULL",
                "a",    "A"};
  bench.add_all(ids);
  expect_equal(ids_of(bench.claim("a")), ids, "claimed");
  for (const std::string& id : ids) {
    bench.mark(id);
    bench.expect_state(id, "published");
  }
}

// Leases

void a_lease_ends_by_the_clock(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.pass(kLease - microseconds(1));
  bench.expect_claim("b", {}, "while the lease lasts");
  bench.pass(microseconds(1));
  bench.expect_state("one", "pending");
  bench.expect_claim("c", {"one"}, "after the lease");
}

void a_lease_over_midnight_lasts(Bench& bench) {
  bench.add("one");
  bench.pass(std::chrono::ceil<std::chrono::days>(bench.now()) - bench.now() - seconds(1));
  bench.claim("a");
  bench.pass(seconds(2));
  bench.expect_claim("b", {}, "on the next day, within the lease");
  bench.pass(kLease);
  bench.expect_claim("c", {"one"}, "after the lease");
}

void renewing_extends_a_lease(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.pass(seconds(50));
  expect_equal(bench.renew("one", "a"), std::size_t{1}, "renewed");
  bench.pass(seconds(50));
  bench.expect_claim("b", {}, "within the renewed lease");
  bench.pass(seconds(10));
  bench.expect_claim("c", {"one"}, "after the renewed lease");
}

void releasing_gives_back_at_once(Bench& bench) {
  bench.add_all({"one", "two"});
  bench.claim("a");
  expect_equal(bench.release("one", "a"), std::size_t{1}, "released");
  bench.expect_state("one", "pending");
  bench.expect_state("two", "leased");
  bench.expect_claim("b", {"one"}, "the next claim");
  expect_equal(bench.subject().attempts("one"), 0, "attempts");
  expect_equal(bench.subject().last_error("one"), "", "last error");
}

void releasing_writes_a_reason_only_when_given(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.release("one", "a", "no connection");
  expect_equal(bench.subject().last_error("one"), "no connection", "last error");
  bench.claim("b");
  bench.release("one", "b");
  expect_equal(bench.subject().last_error("one"), "no connection", "last error after a release without a reason");
}

void a_lost_lease_changes_nothing(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.pass(kLease);
  bench.claim("b");
  expect_equal(bench.fail("one", "a"), std::size_t{0}, "failed by the old owner");
  expect_equal(bench.release("one", "a", "late"), std::size_t{0}, "released by the old owner");
  expect_equal(bench.renew("one", "a"), std::size_t{0}, "renewed by the old owner");
  bench.expect_state("one", "leased");
  expect_equal(bench.subject().attempts("one"), 0, "attempts");
  expect_equal(bench.subject().last_error("one"), "", "last error");
  expect_equal(bench.fail("one", "b"), std::size_t{1}, "failed by the owner");
}

void a_published_row_takes_no_failure(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.mark("one");
  expect_equal(bench.fail("one", "a"), std::size_t{0}, "failed");
  expect_equal(bench.release("one", "a"), std::size_t{0}, "released");
  expect_equal(bench.renew("one", "a"), std::size_t{0}, "renewed");
  bench.expect_state("one", "published");
  expect_equal(bench.subject().attempts("one"), 0, "attempts");
}

void unknown_ids_are_ignored(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.mark("nobody");
  expect_equal(bench.release("nobody", "a"), std::size_t{0}, "released");
  expect_equal(bench.fail("nobody", "a"), std::size_t{0}, "failed");
  expect_equal(bench.renew("nobody", "a"), std::size_t{0}, "renewed");
  bench.expect_state("one", "leased");
  bench.expect_state("nobody", "missing");
}

// Publishing

void anybody_may_mark_published(Bench& bench) {
  bench.add_all({"leased", "free"});
  bench.claim("a", 1);
  const Ids ids{"leased", "free"};
  bench.subject().store()->mark_published(ids);
  bench.expect_state("leased", "published");
  bench.expect_state("free", "published");
  bench.expect_claim("b", {}, "nothing is left");
}

void a_marked_row_keeps_its_time(Bench& bench) {
  bench.add("one");
  bench.mark("one");
  const Timestamp marked = bench.now();
  bench.pass(seconds(100));
  bench.mark("one");
  const std::size_t purged = bench.store().purge_published(marked + seconds(1), 10);
  if (purged == 0 && !bench.store().backlog(kAttemptsMax)) throw Skip{"this store has no purge_published()"};
  expect_equal(purged, std::size_t{1}, "purged by the time of the first mark");
}

void marking_and_claiming_at_once_equals_both(Bench& bench) {
  bench.add_all({"1", "2", "3", "4"});
  const Ids first = ids_of(bench.claim("a", 2));
  const std::vector<Row> rows = bench.store().mark_and_claim(first, {.token = "b", .rows_max = 1, .lease = kLease});
  expect_equal(ids_of(rows), Ids{"3"}, "claimed");
  bench.expect_state("1", "published");
  bench.expect_state("2", "published");
  bench.expect_state("3", "leased");
  expect_equal(ids_of(bench.store().mark_and_claim({}, {.token = "c", .lease = kLease})), Ids{"4"}, "nothing to mark");
}

// Failures

void a_counted_failure_adds_an_attempt(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  expect_equal(bench.fail("one", "a"), std::size_t{1}, "failed");
  expect_equal(bench.subject().attempts("one"), 1, "attempts");
  expect_equal(bench.subject().last_error("one"), "queue full", "last error");
  bench.expect_state("one", "pending");
  const std::vector<Row> rows = bench.claim("b");
  expect_equal(ids_of(rows), Ids{"one"}, "without a wait it is claimed at once");
  expect_equal(rows[0].attempts, 1, "attempts as claimed");
}

void an_uncounted_failure_keeps_the_attempts(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  expect_equal(bench.fail("one", "a", false), std::size_t{1}, "failed");
  expect_equal(bench.subject().attempts("one"), 0, "attempts");
  expect_equal(bench.subject().last_error("one"), "queue full", "last error");
}

void a_reason_is_cut_at_1000_characters(Bench& bench) {
  std::string reason, kept;
  for (int i = 0; i < 1500; ++i) reason += "ü";
  for (int i = 0; i < 997; ++i) kept += "ü";
  bench.add("one");
  bench.claim("a");
  bench.fail({.lease = {"one", "a"}, .reason = reason});
  expect_equal(bench.subject().last_error("one"), kept + "...", "a long reason");
  bench.claim("b");
  bench.fail({.lease = {"one", "b"}, .reason = std::string("a\0b\xff", 4)});
  expect_equal(bench.subject().last_error("one"),
               "a\xEF\xBF\xBD"
               "b\xEF\xBF\xBD",
               "a reason that no text column takes");
}

void a_waiting_row_stops_its_lane_only(Bench& bench) {
  bench.add("head", {"shop-events", "slow"});
  bench.add("behind", {"shop-events", "slow"});
  bench.add("same key elsewhere", {"other-events", "slow"});
  bench.add("other", {"shop-events", "fast"});
  bench.claim("a", 1);
  bench.fail("head", "a", true, seconds(10));
  bench.expect_state("head", "waiting");
  bench.expect_claim("b", {"same key elsewhere", "other"}, "other lanes go on");
  bench.expect_state("behind", "pending");
}

void a_lane_goes_on_after_its_wait(Bench& bench) {
  bench.add_all({"head", "behind"});
  bench.claim("a", 1);
  bench.fail("head", "a", true, seconds(10));
  bench.pass(seconds(10) - microseconds(1));
  bench.expect_claim("b", {}, "while the lane waits");
  bench.pass(microseconds(1));
  bench.expect_claim("c", {"head", "behind"}, "after the wait, in order");
}

// A claim that starts above the head of a lane must not send what stands behind it, due or not.
void a_lane_is_not_entered_above_its_head(Bench& bench) {
  bench.add_all({"head", "behind"});
  bench.add("other", {"shop-events", "other"});
  bench.claim("a", 1);
  bench.fail("head", "a", true, seconds(10));
  bench.pass(seconds(20));
  Claim claim{.token = "b", .lease = kLease, .created_from = bench.now() - std::chrono::hours(1) - seconds(20) + microseconds(2)};
  const Ids above = ids_of(bench.store().claim(claim));
  expect(above == Ids{"other"} || above == Ids{"head", "behind", "other"}, "the lane's head first, found " + show(above));
  if (above.size() == 1) bench.expect_claim("c", {"head", "behind"}, "a claim from the beginning");
}

// The due time is the row's, so that many relays make no more attempts than one.
void a_wait_holds_for_every_relay(Bench& bench) {
  bench.add("one");
  bench.claim("a");
  bench.fail("one", "a", true, seconds(10));
  for (int relay = 0; relay < 6; ++relay) {
    const std::shared_ptr<Store> other = bench.subject().store();
    expect_equal(ids_of(Bench::claim(*other, "r" + std::to_string(relay))), Ids{}, "claimed while the row waits");
  }
  expect_equal(bench.subject().attempts("one"), 1, "attempts");
}

void a_lease_in_a_lane_does_not_stop_it(Bench& bench) {
  bench.add_all({"1", "2"});
  bench.claim("a", 1);
  bench.expect_claim("b", {"2"}, "behind a leased row of the same lane");
}

void a_retired_row_is_skipped_and_kept(Bench& bench) {
  bench.add_all({"poison", "healthy"});
  bench.retire("poison");
  bench.release("healthy", "retiring");
  bench.expect_claim("a", {"healthy"}, "beside a retired row");
  bench.expect_state("poison", "pending");
  expect_equal(bench.subject().attempts("poison"), kAttemptsMax, "attempts");
  const Backlog backlog = need(bench.store().backlog(kAttemptsMax), "backlog()");
  expect_equal(backlog.pending, std::uint64_t{2}, "a retired row is still pending");
  expect_equal(backlog.retired, std::uint64_t{1}, "retired");
}

void the_last_failures_wait_stops_nobody(Bench& bench) {
  bench.add_all({"poison", "healthy"});
  for (std::int32_t i = 0; i < kAttemptsMax; ++i) {
    bench.claim("a", 1);
    bench.fail("poison", "a", true, seconds(60));
    if (i + 1 < kAttemptsMax) bench.pass(seconds(60));
  }
  bench.expect_claim("b", {"healthy"}, "behind a row that has just been given up");
}

// Operation

void backlog_counts_each_state(Bench& bench) {
  need(bench.store().backlog(kAttemptsMax), "backlog()");
  bench.add("poison", {"", "poison"});
  bench.retire("poison");
  bench.add("waits", {"", "waits"});
  bench.claim("a");
  bench.fail("waits", "a", true, seconds(10));
  bench.add("leased", {"", "leased"});
  bench.claim("b");
  bench.add_all({"free-1", "free-2"}, {"", "free"});
  bench.add("published");
  bench.mark("published");
  const Backlog backlog = *bench.store().backlog(kAttemptsMax);
  expect_equal(backlog.pending, std::uint64_t{5}, "pending");
  expect_equal(backlog.waiting, std::uint64_t{1}, "waiting");
  expect_equal(backlog.leased, std::uint64_t{1}, "leased");
  expect_equal(backlog.retired, std::uint64_t{1}, "retired");
  expect(backlog.oldest == bench.now() - std::chrono::hours(1) + microseconds(2), "the oldest is the waiting row");
}

void backlog_of_an_empty_table_is_empty(Bench& bench) {
  const Backlog backlog = need(bench.store().backlog(kAttemptsMax), "backlog()");
  expect_equal(backlog.pending + backlog.waiting + backlog.leased + backlog.retired, std::uint64_t{0}, "counts");
  expect(!backlog.oldest, "there is no oldest row");
}

void retired_rows_are_listed_with_their_reason(Bench& bench) {
  bench.add_all({"1", "2", "3"});
  for (const char* id : {"1", "2"}) bench.retire(id);
  const auto rows = bench.store().retired(kAttemptsMax, 10);
  if (rows.empty() && !bench.store().backlog(kAttemptsMax)) throw Skip{"this store has no retired()"};
  expect_equal(rows.size(), std::size_t{2}, "retired rows");
  expect_equal(rows[0].id, "1", "the oldest comes first");
  expect_equal(rows[0].exchange, "shop-events", "exchange");
  expect_equal(rows[0].routing_key, "order.placed", "routing key");
  expect_equal(rows[0].last_error, "queue full", "reason");
  expect_equal(rows[0].attempts, kAttemptsMax, "attempts");
  expect(rows[0].created_at == bench.now() - std::chrono::hours(1) + microseconds(1), "created_at");
  expect_equal(bench.store().retired(kAttemptsMax, 1).size(), std::size_t{1}, "retired rows, one at most");
}

void purging_deletes_old_published_rows_in_chunks(Bench& bench) {
  bench.add_all({"1", "2", "3", "4", "5", "pending", "poison"});
  bench.claim("a", 7);
  for (std::int32_t i = 0; i < kAttemptsMax; ++i) {
    bench.fail("poison", i == 0 ? "a" : "b");
    bench.claim("b");
  }
  for (const char* id : {"1", "2", "3", "4", "5"}) bench.mark(id);
  const Timestamp later = bench.now() + std::chrono::hours(1);
  const std::size_t first = bench.store().purge_published(later, 2);
  if (first == 0 && !bench.store().backlog(kAttemptsMax)) throw Skip{"this store has no purge_published()"};
  expect_equal(first, std::size_t{2}, "first chunk");
  expect_equal(bench.store().purge_published(later, 2), std::size_t{2}, "second chunk");
  expect_equal(bench.store().purge_published(later, 2), std::size_t{1}, "last chunk");
  expect_equal(bench.store().purge_published(later, 2), std::size_t{0}, "nothing is left");
  bench.expect_state("1", "missing");
  bench.expect_state("pending", "leased");
  expect(bench.subject().state("poison") != "missing", "a retired row is never purged");
}

void purging_spares_what_was_published_later(Bench& bench) {
  bench.add_all({"old", "middle", "young"});
  bench.mark("old");
  bench.pass(std::chrono::hours(20));
  bench.mark("middle");
  const Timestamp limit = bench.now() + seconds(1);
  bench.pass(seconds(2));
  bench.mark("young");
  const std::size_t purged = bench.store().purge_published(limit, 10);
  if (purged == 0 && !bench.store().backlog(kAttemptsMax)) throw Skip{"this store has no purge_published()"};
  expect_equal(purged, std::size_t{2}, "purged");
  bench.expect_state("young", "published");
}

struct NamedCase {
  const char* name;
  void (*run)(Bench&);
};

constexpr NamedCase kCases[] = {
    {"AnEmptyTableGivesNothing", an_empty_table_gives_nothing},
    {"ARowComesBackAsItWasAdded", a_row_comes_back_as_it_was_added},
    {"ABinaryBodyComesBackAsBase64", a_binary_body_comes_back_as_base64},
    {"OnlyPendingRowsAreClaimed", only_pending_rows_are_claimed},
    {"RowsComeInOrderOfTimeThenId", rows_come_in_order_of_time_then_id},
    {"OrderHoldsAcrossDaysAndYears", order_holds_across_days_and_years},
    {"AClaimTakesAtMostRowsMax", a_claim_takes_at_most_rows_max},
    {"AClaimTakesAtMostBytesMax", a_claim_takes_at_most_bytes_max},
    {"ARowLargerThanBytesMaxPassesAlone", a_row_larger_than_bytes_max_passes_alone},
    {"CreatedFromLeavesNothingOutForEver", created_from_leaves_nothing_out_for_ever},
    {"ALateCommitWithAnEarlyTimeIsFound", a_late_commit_with_an_early_time_is_found},
    {"TwoStoresNeverClaimTheSameRow", two_stores_never_claim_the_same_row},
    {"OddIdsAreFoundAgain", odd_ids_are_found_again},
    {"ALeaseEndsByTheClock", a_lease_ends_by_the_clock},
    {"ALeaseOverMidnightLasts", a_lease_over_midnight_lasts},
    {"RenewingExtendsALease", renewing_extends_a_lease},
    {"ReleasingGivesBackAtOnce", releasing_gives_back_at_once},
    {"ReleasingWritesAReasonOnlyWhenGiven", releasing_writes_a_reason_only_when_given},
    {"ALostLeaseChangesNothing", a_lost_lease_changes_nothing},
    {"APublishedRowTakesNoFailure", a_published_row_takes_no_failure},
    {"UnknownIdsAreIgnored", unknown_ids_are_ignored},
    {"AnybodyMayMarkPublished", anybody_may_mark_published},
    {"AMarkedRowKeepsItsTime", a_marked_row_keeps_its_time},
    {"MarkingAndClaimingAtOnceEqualsBoth", marking_and_claiming_at_once_equals_both},
    {"ACountedFailureAddsAnAttempt", a_counted_failure_adds_an_attempt},
    {"AnUncountedFailureKeepsTheAttempts", an_uncounted_failure_keeps_the_attempts},
    {"AReasonIsCutAt1000Characters", a_reason_is_cut_at_1000_characters},
    {"AWaitingRowStopsItsLaneOnly", a_waiting_row_stops_its_lane_only},
    {"ALaneGoesOnAfterItsWait", a_lane_goes_on_after_its_wait},
    {"ALaneIsNotEnteredAboveItsHead", a_lane_is_not_entered_above_its_head},
    {"AWaitHoldsForEveryRelay", a_wait_holds_for_every_relay},
    {"ALeaseInALaneDoesNotStopIt", a_lease_in_a_lane_does_not_stop_it},
    {"ARetiredRowIsSkippedAndKept", a_retired_row_is_skipped_and_kept},
    {"TheLastFailuresWaitStopsNobody", the_last_failures_wait_stops_nobody},
    {"BacklogCountsEachState", backlog_counts_each_state},
    {"BacklogOfAnEmptyTableIsEmpty", backlog_of_an_empty_table_is_empty},
    {"RetiredRowsAreListedWithTheirReason", retired_rows_are_listed_with_their_reason},
    {"PurgingDeletesOldPublishedRowsInChunks", purging_deletes_old_published_rows_in_chunks},
    {"PurgingSparesWhatWasPublishedLater", purging_spares_what_was_published_later},
};

}  // namespace

std::vector<ConformanceCase> store_conformance(
    const std::function<void(const std::string& name, const std::string& reason)>& skipped) {
  std::vector<ConformanceCase> cases;
  for (const NamedCase& each : kCases) {
    cases.push_back({each.name, [name = std::string(each.name), run = each.run, skipped](StoreSubject& subject) {
                       try {
                         Bench bench(subject);
                         run(bench);
                       } catch (const Skip& skip) {
                         if (skipped) skipped(name, skip.reason);
                       }
                     }});
  }
  return cases;
}

}  // namespace acemq::testing
