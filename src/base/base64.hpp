// Strict RFC 4648 base64 with padding and no line breaks: a body must come back byte for byte (CONTRACT 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace acemq::base {

std::string base64_encode(std::string_view bytes);
// Nothing for any character outside the alphabet, white space included, for missing padding, and for tail bits that are not zero.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace acemq::base
