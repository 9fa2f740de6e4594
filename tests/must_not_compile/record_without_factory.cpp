// record() needs a factory, which knows the codec and the origin; a codec alone is not enough.
// expect: no matching function
#include "acemq/outbox/record.hpp"

acemq::outbox::Record order_placed(const acemq::MessageFactory& shop) {
#ifdef MISUSE
  return acemq::outbox::record(shop.codec(), "{}", {.to = "order.placed"});
#else
  return acemq::outbox::record(shop, "{}", {.to = "order.placed"});
#endif
}
