// What add() answers is no yes or no: "already there" is a success too.
// expect: cannot convert|cannot initialize
#include "acemq/adapters/sqlite.hpp"

bool was_written(acemq::outbox::Added added) {
#ifdef MISUSE
  return added;
#else
  return added == acemq::outbox::Added::inserted || added == acemq::outbox::Added::already_there;
#endif
}
