#include "app/commands/add.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "acemq/error.hpp"
#include "app/database.hpp"
#include "app/failure.hpp"

namespace acemq::app {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }  // it was only read
};

// Stops early when there is more than a body may have.
std::string read_all(std::FILE* file, const std::string& name, std::size_t bytes_max) {
  std::string bytes;
  std::array<char, 65536> buffer;
  while (bytes.size() <= bytes_max) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file);
    bytes.append(buffer.data(), got);
    if (got < buffer.size()) break;
  }
  if (std::ferror(file) != 0) throw CommandFailure(kFailed, "cannot read " + name + ": " + std::strerror(errno));
  if (bytes.size() > bytes_max) {
    throw CommandFailure(kUsage, "BODY must have at most " + std::to_string(bytes_max) + " bytes; there are more in " + name);
  }
  return bytes;
}

std::string read_body(const AddArguments& arguments, std::size_t bytes_max) {
  if (arguments.body_file) {
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(arguments.body_file->c_str(), "rbe"));
    if (!file) throw CommandFailure(kFailed, "cannot open " + *arguments.body_file + ": " + std::strerror(errno));
    return read_all(file.get(), *arguments.body_file, bytes_max);
  }
  if (arguments.body == "-") return read_all(stdin, "the standard input", bytes_max);
  return *arguments.body;
}

outbox::Record make_record(const AddArguments& arguments) {
  const MessageFactory factory;
  const std::string body = read_body(arguments, factory.body_bytes_max());
  switch (arguments.form) {
    case BodyForm::json:
      break;
    case BodyForm::text:
      return outbox::record(factory, body, arguments.record, TextCodec{});
    case BodyForm::bytes:
      if (arguments.content_type.empty()) return outbox::record(factory, body, arguments.record, BytesCodec{});
      return outbox::record(factory, body, arguments.record, BytesCodec{arguments.content_type});
  }
  return outbox::record(factory, body, arguments.record);
}

}  // namespace

int run(const AddArguments& arguments, Output& output) {
  const Database database = parse_database(arguments.db);
  const outbox::Record record = make_record(arguments);
  const bool inserted = add(database, arguments.table, record) == outbox::Added::inserted;
  output.result(inserted ? record.id : fmt::format("{} is there already, with the same content", record.id),
                {{"id", record.id}, {"added", inserted}});
  return kOk;
}

}  // namespace acemq::app
