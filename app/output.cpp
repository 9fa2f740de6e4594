#include "app/output.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include "app/failure.hpp"
#include "base/utf8.hpp"
#include "message/headers_json.hpp"

namespace acemq::app {

void Output::result(std::string_view words, const Headers& fields) {
  text(json_ ? to_json_line(fields) : std::string(words));
  text("\n");
}

void Output::text(std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), out_); }

void Output::finish() {
  if (std::fflush(out_) == 0 && std::ferror(out_) == 0) return;
  throw CommandFailure(kFailed, std::string("the output could not be written: ") + std::strerror(errno));
}

std::string to_json_line(const Headers& fields) { return base::to_storable_text(message::to_json(fields)); }

}  // namespace acemq::app
