#include "acemq/clock.hpp"

#include <chrono>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// The wall clock is the one of the standard library, read between two readings of it.
TEST(SystemClock, TellsTheWallTime) {
  const auto before = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  const auto now = acemq::system_clock().now();
  EXPECT_LE(before, now);
  EXPECT_LE(now, std::chrono::system_clock::now());
}

// Time since boot never steps back.
TEST(SystemClock, TimeSinceBootDoesNotStepBack) {
  auto last = acemq::system_clock().since_boot();
  EXPECT_GT(last.count(), 0);
  for (int i = 0; i < 1000; ++i) {
    const auto next = acemq::system_clock().since_boot();
    ASSERT_GE(next, last);
    last = next;
  }
}

// A child process does not repeat its parent's numbers: ids made on both sides of fork() must differ.
TEST(SystemRandom, DiffersAcrossFork) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  acemq::system_random().next();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::uint64_t value = acemq::system_random().next();
    _exit(write(pipe_ends[1], &value, sizeof value) == sizeof value ? 0 : 1);
  }
  const std::uint64_t mine = acemq::system_random().next();
  std::uint64_t theirs = 0;
  EXPECT_EQ(read(pipe_ends[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  int status = 1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(mine, theirs);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
