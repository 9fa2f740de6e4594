// The program acemq as a shell sees it: started with arguments and an environment of its own, watched through pipes.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.hpp"

namespace acemq::app::testing {

// How a run ended. A process that a signal killed has the signal's number, negative.
struct Finished {
  int exit_code = 0;
  std::string out = {}, err = {};
};

struct Surroundings {
  std::vector<std::string> environment = {};  // NAME=value; nothing else is in it but a sanitizer's settings
  std::string input = {};                     // at most 64 KiB
  std::string folder = {};                    // where it runs; empty: here
};

class Program {
 public:
  // `command` begins with the program's path.
  explicit Program(std::vector<std::string> command, Surroundings surroundings = {}) {
    for (const char* sanitizer : {"ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (const char* options = std::getenv(sanitizer)) {
        surroundings.environment.push_back(std::string(sanitizer) + "=" + options);
      }
    }
    Pipe in, out, err;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
    if (!surroundings.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, surroundings.folder.c_str());
    const int error = posix_spawn(&pid_, command.front().c_str(), &actions, nullptr, pointers(command).data(),
                                  pointers(surroundings.environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + command.front());
    // The pipe holds it all, so this does not wait for the program.
    if (::write(in.write.get(), surroundings.input.data(), surroundings.input.size()) < 0) throw std::runtime_error("no pipe");
    out_ = std::move(out.read);
    err_ = std::move(err.read);
  }
  ~Program() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  // Whether `text` has been written to standard error, before a generous deadline.
  bool says(std::string_view text) {
    const Instant deadline = std::chrono::steady_clock::now() + kPatience;
    while (finished_.err.find(text) == std::string::npos) {
      if (!read_some(deadline)) return false;
    }
    return true;
  }

  // Nobody reads its standard error any more.
  void stop_listening() { err_ = base::Descriptor(); }

  // Waits for the end.
  Finished finish() {
    const Instant deadline = std::chrono::steady_clock::now() + kPatience;
    while (read_some(deadline)) {
    }
    if (out_ || err_) {
      ADD_FAILURE() << "the program did not end; it said:\n" << finished_.err;
      ::kill(pid_, SIGKILL);
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    finished_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return std::move(finished_);
  }

 private:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPatience{60};

  struct Pipe {
    Pipe() {
      int ends[2];
      if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
      read = base::Descriptor(ends[0]);
      write = base::Descriptor(ends[1]);
    }
    base::Descriptor read, write;
  };

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  // False when both streams have ended, or at the deadline.
  bool read_some(Instant deadline) {
    pollfd streams[]{{out_ ? out_.get() : -1, POLLIN, 0}, {err_ ? err_.get() : -1, POLLIN, 0}};
    if (!out_ && !err_) return false;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 || ::poll(streams, 2, static_cast<int>(left.count())) <= 0) return false;
    if (streams[0].revents != 0) take(out_, finished_.out);
    if (streams[1].revents != 0) take(err_, finished_.err);
    return true;
  }

  static void take(base::Descriptor& stream, std::string& into) {
    char buffer[4096];
    const ssize_t count = ::read(stream.get(), buffer, sizeof buffer);
    if (count <= 0)
      stream = base::Descriptor();
    else
      into.append(buffer, static_cast<std::size_t>(count));
  }

  pid_t pid_ = 0;
  base::Descriptor out_, err_;
  Finished finished_;
};

// A folder that goes with the test, a database in it, and short ways to run the program on it.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    std::string name = ::testing::TempDir() + "acemq-app-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder = name;
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  std::vector<std::string> environment{"ACEMQ_DB=sqlite:shop.db"};

  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ACEMQ_PROGRAM);
    return arguments;
  }
  Surroundings here(std::string input = {}) const {
    return {.environment = environment, .input = std::move(input), .folder = folder.string()};
  }
  // Runs `acemq arguments…` in the folder until it ends.
  Finished acemq(std::vector<std::string> arguments, std::string input = {}) const {
    return Program(command(std::move(arguments)), here(std::move(input))).finish();
  }

  void write_file(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }

  // The first column of every row, from the shop's database or another file of the folder; NULL reads as "NULL".
  std::vector<std::string> query(const std::string& sql, const std::string& file = "shop.db") const {
    sqlite3* db = nullptr;
    std::vector<std::string> rows;
    sqlite3_open((folder / file).c_str(), &db);
    sqlite3_busy_timeout(db, 10'000);
    const auto collect = [](void* to, int, char** values, char**) {
      static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] == nullptr ? "NULL" : values[0]);
      return 0;
    };
    char* error = nullptr;
    if (sqlite3_exec(db, sql.c_str(), collect, &rows, &error) != SQLITE_OK) ADD_FAILURE() << sql << ": " << error;
    sqlite3_free(error);
    sqlite3_close(db);
    return rows;
  }
  std::string value(const std::string& sql) const {
    const auto rows = query(sql);
    return rows.size() == 1 ? rows.front() : std::to_string(rows.size()) + " rows";
  }
};

}  // namespace acemq::app::testing
