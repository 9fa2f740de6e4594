// What a benchmark asks of its machine: time, processor time, percentiles.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace acemq::bench {

// CLOCK_MONOTONIC, which all processes of a machine share.
std::chrono::nanoseconds now();

// Processor time so far.
std::chrono::nanoseconds cpu_of_process();  // this one, all threads
std::chrono::nanoseconds cpu_of_thread();   // the calling one
// Another process, with what it has reaped; in steps of 10 ms. Zero for pid 0, which stands for "not known".
std::chrono::nanoseconds cpu_of(int pid);

double seconds(std::chrono::nanoseconds time);
double milliseconds(std::chrono::nanoseconds time);
double microseconds_each(std::chrono::nanoseconds time, std::size_t count);

// Sorts a copy; 0 for none.
double percentile(std::vector<double> values, double fraction);
inline double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

// Looks every millisecond. Throws std::runtime_error naming `what` when the deadline passes first.
void wait_until(const std::function<bool()>& holds, std::chrono::seconds deadline, const std::string& what);
// Keeps a pace.
void wait_for_time(std::chrono::nanoseconds when);

// Processor, cores, kernel.
std::string machine();
std::string today();

}  // namespace acemq::bench
