// Passwords arrive in URLs, and leave in none: not in an error, not in the list of processes.
#pragma once

#include <string>
#include <string_view>

namespace acemq::app {

// `text` with whatever may be the user and password of a URL, even of a misspelled one, replaced by "***".
std::string without_secrets(std::string_view text);

// What somebody gave, as an error may repeat it: without secrets, and cut where it is long.
std::string shown(std::string_view value);

// Overwrites the same in the arguments, in place, where `ps` reads them. Copy the arguments first.
void hide_secrets(int argc, char** argv);

}  // namespace acemq::app
