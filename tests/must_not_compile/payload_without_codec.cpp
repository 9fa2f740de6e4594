// record() takes only what the factory's codec can encode: a number is not JSON text.
// expect: no matching function
#include "acemq/outbox/record.hpp"

acemq::outbox::Record order_placed(const acemq::MessageFactory& shop) {
#ifdef MISUSE
  return acemq::outbox::record(shop, 42, {.to = "order.placed"});
#else
  return acemq::outbox::record(shop, "42", {.to = "order.placed"});
#endif
}
