// Passwords arrive in URLs, and leave in none: not in an error, not in the list of processes.
#pragma once

#include <string>
#include <string_view>

namespace acemq::app {

// `text` with the user and password of everything that looks like a URL replaced by "***".
std::string without_secrets(std::string_view text);

// Overwrites user and password of every URL among the arguments, in place, where `ps` reads them. Copy the arguments first.
void hide_secrets(int argc, char** argv);

}  // namespace acemq::app
