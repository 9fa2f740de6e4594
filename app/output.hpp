// Where a command writes its results: lines for people, or one JSON object a line for programs.
#pragma once

#include <cstdio>
#include <string_view>

#include "acemq/headers.hpp"

namespace acemq::app {

class Output {
 public:
  // `out` must outlive it.
  Output(std::FILE* out, bool json) : out_(out), json_(json) {}

  bool json() const noexcept { return json_; }
  // One result, in the form that was asked for. `words` may be several lines, without a newline at the end.
  void result(std::string_view words, const Headers& fields);
  // Bytes as they are, in both forms.
  void text(std::string_view bytes);
  // Throws CommandFailure when something could not be written: a full disk must not look like success.
  void finish();

 private:
  std::FILE* out_;
  bool json_;
};

// Fields as one JSON object. Text that is no UTF-8 is repaired: it may quote anything.
std::string to_json_line(const Headers& fields);

}  // namespace acemq::app
