// Test an outbox without a broker, a thread or a sleep.
//
//   acemq::testing::ManualClock clock;
//   auto store = std::make_shared<acemq::testing::MemoryStore>(clock);
//   auto broker = std::make_shared<acemq::testing::FakeTransport>(clock);
//   acemq::outbox::Relay relay{store, broker, {.clock = &clock}};
//   store->add(record);
//   relay.sweep();                                   // broker->published() now holds the message
#pragma once

#include "acemq/testing/fake_transport.hpp"
#include "acemq/testing/manual_clock.hpp"
#include "acemq/testing/memory_store.hpp"
#include "acemq/testing/store_conformance.hpp"
