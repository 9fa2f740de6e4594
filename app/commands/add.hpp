#pragma once

#include <optional>
#include <string>

#include "acemq/outbox/record.hpp"
#include "app/output.hpp"

namespace acemq::app {

enum class BodyForm { json, text, bytes };

struct AddArguments {
  std::string db = {};
  std::string table = {};
  outbox::RecordOptions record = {};
  BodyForm form = BodyForm::json;
  std::string content_type = {};              // of bytes; empty: application/octet-stream
  std::optional<std::string> body = {};       // "-": standard input
  std::optional<std::string> body_file = {};  // instead of body
};

int run(const AddArguments& arguments, Output& output);

}  // namespace acemq::app
