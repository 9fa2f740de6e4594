#include "measure.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

namespace acemq::bench {

using std::chrono::nanoseconds;

namespace {

nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

nanoseconds now() { return read_clock(CLOCK_MONOTONIC); }
nanoseconds cpu_of_process() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }
nanoseconds cpu_of_thread() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

nanoseconds cpu_of(int pid) {
  if (pid == 0) return nanoseconds(0);
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("no process " + std::to_string(pid));
  // The name in parentheses may hold spaces. Fields 14 to 17 are user, system, and both of reaped children.
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::int64_t ticks = 0;
  for (int field = 14; field <= 17; ++field) {
    std::int64_t value = 0;
    fields >> value;
    ticks += value;
  }
  return nanoseconds(ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
}

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }
double milliseconds(nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }
double microseconds_each(nanoseconds time, std::size_t count) {
  return std::chrono::duration<double, std::micro>(time).count() / static_cast<double>(std::max<std::size_t>(count, 1));
}

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(fraction * static_cast<double>(values.size())))];
}

void wait_until(const std::function<bool()>& holds, std::chrono::seconds deadline, const std::string& what) {
  const nanoseconds end = now() + deadline;
  while (!holds()) {
    if (now() > end) throw std::runtime_error("waited too long for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void wait_for_time(nanoseconds when) {
  const nanoseconds left = when - now();
  if (left.count() > 0) std::this_thread::sleep_for(left);
}

std::string machine() {
  utsname system{};
  uname(&system);
  return processor() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " cores, " + system.sysname + " " + system.release;
}

std::string today() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

}  // namespace acemq::bench
