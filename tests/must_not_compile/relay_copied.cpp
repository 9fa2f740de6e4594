// A relay owns a thread and a channel: a second one over the same state makes no sense.
// expect: deleted
#include "acemq/outbox/relay.hpp"

void run(acemq::outbox::Relay& relay) {
#ifdef MISUSE
  acemq::outbox::Relay second(relay);
  second.start();
#else
  relay.start();
#endif
}
