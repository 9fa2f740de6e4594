// A store that cannot claim is no store, however much else it does.
// expect: abstract
#include "acemq/outbox/store.hpp"

struct MyStore : acemq::outbox::Store {
#ifndef MISUSE
  std::vector<acemq::outbox::Row> claim(const acemq::outbox::Claim&) override { return {}; }
#endif
  void mark_published(std::span<const std::string>) override {}
};

void use() { MyStore store; }
