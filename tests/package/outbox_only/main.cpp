// An application that only writes rows: a record and its statement, for whatever client it has.
#include <cstdlib>

#include <acemq/outbox/insert.hpp>
#include <acemq/outbox/record.hpp>

int main() {
  const acemq::MessageFactory shop{{.origin = "shop@web-1"}};
  const auto record = acemq::outbox::record(shop, R"({"order":"A-1"})", {.to = "order.placed", .exchange = "shop-events"});
  const auto insert = acemq::outbox::insert_statement(record);
  return insert.parameters.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}
