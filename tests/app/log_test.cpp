// The log's form and its limit, with a clock that the test moves.
#include "app/log.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "acemq/testing/manual_clock.hpp"
#include "app/relay_log.hpp"

namespace acemq::app {
namespace {

using namespace std::chrono_literals;
using acemq::testing::ManualClock;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// A file in memory whose lines can be looked at.
class Lines {
 public:
  Lines() : file_(::open_memstream(&bytes_, &size_)) {}
  ~Lines() {
    std::fclose(file_);
    std::free(bytes_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  std::FILE* file() { return file_; }
  std::vector<std::string> all() {
    std::fflush(file_);
    std::istringstream text(std::string(bytes_, size_));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  // Those that contain `text`.
  std::vector<std::string> with(const std::string& text) {
    std::vector<std::string> lines = all();
    std::erase_if(lines, [&](const std::string& line) { return line.find(text) == std::string::npos; });
    return lines;
  }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

std::string line(LogForm form, const Headers& fields) {
  const ManualClock clock;
  Lines lines;
  Log(lines.file(), form, clock).write(Level::warning, "failed", fields);
  return lines.all().size() == 1 ? lines.all().front() : "not one line";
}

// The three forms of one event: the journal adds time and level by itself.
TEST(LogLines, HaveThreeForms) {
  const Headers fields{{"id", "A-1"}, {"attempts", 2}};
  EXPECT_EQ(line(LogForm::plain, fields), "time=2026-01-02T03:04:05.678901Z level=warning event=failed id=A-1 attempts=2");
  EXPECT_EQ(line(LogForm::journal, fields), "<4>event=failed id=A-1 attempts=2");
  EXPECT_EQ(line(LogForm::json, fields),
            R"({"time":"2026-01-02T03:04:05.678901Z","level":"warning","event":"failed","id":"A-1","attempts":2})");
}

// What comes from elsewhere cannot forge a line or a field, is always UTF-8, and is bounded.
TEST(LogLines, QuoteWhatTheyQuote) {
  EXPECT_EQ(line(LogForm::journal, {{"id", "a b=\"c\"\nevent=x"}}), R"(<4>event=failed id="a b=\"c\"\nevent=x")");
  EXPECT_EQ(line(LogForm::journal, {{"id", ""}}), R"(<4>event=failed id="")");
  EXPECT_EQ(line(LogForm::journal, {{"id", std::string("\xff")}}), "<4>event=failed id=\xEF\xBF\xBD");
  EXPECT_THAT(line(LogForm::plain, {{"id", std::string(10'000, 'x')}}), SizeIs(::testing::Lt(700u)));
}

// Standard error is the journal's only when the environment names this very file.
TEST(LogLines, KnowTheJournal) {
  EXPECT_FALSE(is_journal(stderr, nullptr));
  EXPECT_FALSE(is_journal(stderr, "1:2"));
}

class RelayLogTest : public ::testing::Test {
 protected:
  void outage() {
    const Failure failure{.failure_class = FailureClass::outage, .reason = "cannot connect"};
    relay_log.on_state(RelayState::connecting, "mq:5672");
    relay_log.on_failed({.failure = failure});
    relay_log.on_state(RelayState::waiting, "cannot connect");
  }
  void refusal(std::uint16_t code, bool retired = false) {
    const Failure failure{.failure_class = FailureClass::refusal, .code = code, .reason = "refused", .server_text = "NO"};
    relay_log.on_failed({.failure = failure, .id = "A-1", .attempts = 1, .counted = true, .retired = retired, .wait = 1s});
  }

  ManualClock clock;
  Lines lines;
  Log log{lines.file(), LogForm::plain, clock};
  RelayLog relay_log{log, clock};
};

// B26: an outage of an hour with ten attempts a second writes fewer than twenty lines in every minute, one on recovery, and tells
// how many it left out.
TEST_F(RelayLogTest, B26_AnOutageDoesNotFloodTheLog) {
  std::vector<std::size_t> written;  // after each second
  for (int second = 0; second < 3600; ++second) {
    for (int i = 0; i < 10; ++i) outage();
    clock.advance(1s);
    written.push_back(lines.all().size());
  }
  for (std::size_t i = 60; i < written.size(); ++i) ASSERT_LT(written[i] - written[i - 60], 20u) << "second " << i;

  relay_log.on_state(RelayState::running, "");
  EXPECT_THAT(lines.with("event=recovered"), ElementsAre(AllOf(HasSubstr("after_seconds=3600"), HasSubstr("lines_left_out="))));
  EXPECT_EQ(lines.with("event=waiting").size(), 1u);
}

// A store that fails a thousand times a second is one cause, too.
TEST_F(RelayLogTest, B26_AFailingStoreDoesNotFloodTheLog) {
  const Failure failure{.failure_class = FailureClass::store, .reason = "database is locked"};
  for (int i = 0; i < 60'000; ++i) {
    relay_log.on_failed({.failure = failure});
    clock.advance(1ms);
  }
  EXPECT_LT(lines.all().size(), 20u);
}

// A cause that is busy does not silence another one, least of all a retired message.
TEST_F(RelayLogTest, CausesAreLimitedApart) {
  for (int i = 0; i < 100; ++i) refusal(312);
  refusal(404);
  refusal(312, true);
  EXPECT_EQ(lines.with("code=404").size(), 1u);
  EXPECT_THAT(lines.with("event=retired"),
              ElementsAre(AllOf(HasSubstr("level=error"), HasSubstr("id=A-1"), HasSubstr("broker_says=NO"))));
}

// The number of causes that are told apart is bounded: whatever codes a broker invents share one limit in the end.
TEST_F(RelayLogTest, CausesAreBounded) {
  for (std::uint16_t code = 1; code <= 1000; ++code) refusal(code);
  EXPECT_LT(lines.all().size(), LogLimiter::kCausesMax + 20);
}

// A start without trouble is two lines, and a connection that comes back at once is told as well.
TEST_F(RelayLogTest, TellsChanges) {
  relay_log.on_state(RelayState::connecting, "mq:5672");
  relay_log.on_state(RelayState::running, "");
  relay_log.on_state(RelayState::blocked, "low on memory");
  clock.advance(5s);
  relay_log.on_state(RelayState::running, "");
  EXPECT_THAT(lines.all(),
              ElementsAre(HasSubstr("level=info event=connecting broker=mq:5672"), HasSubstr("level=info event=running"),
                          HasSubstr(R"(level=warning event=blocked reason="low on memory")"),
                          HasSubstr("level=info event=recovered after_seconds=5")));
}

}  // namespace
}  // namespace acemq::app
