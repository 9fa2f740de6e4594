#pragma once

#include <span>
#include <string>
#include <string_view>

namespace acemq::app {

// The one of `words` that somebody who typed `word` most likely meant; empty when none is near.
std::string nearest(std::string_view word, std::span<const std::string> words);

// "did you mean …?", or which words there are.
std::string spelling_hint(std::string_view word, std::span<const std::string> words);

}  // namespace acemq::app
