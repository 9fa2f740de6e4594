// A pointer is no header value: it would silently become a bool.
// expect: deleted
#include "acemq/headers.hpp"

struct Order {
  int total = 0;
};

void tag(acemq::Headers& headers, const Order* order) {
#ifdef MISUSE
  headers.set("order", order);
#else
  headers.set("order", order->total);
#endif
}
