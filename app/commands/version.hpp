#pragma once

#include "app/output.hpp"

namespace acemq::app {

struct VersionArguments {};

int run(const VersionArguments& arguments, Output& output);

}  // namespace acemq::app
