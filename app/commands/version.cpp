#include "app/commands/version.hpp"

#include "app/failure.hpp"

namespace acemq::app {

int run(const VersionArguments& /*arguments*/, Output& output) {
  output.result("acemq " ACEMQ_VERSION, {{"version", ACEMQ_VERSION}});
  return kOk;
}

}  // namespace acemq::app
