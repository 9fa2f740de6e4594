// A codec of your own: any type that says how a payload becomes bytes, and what those bytes are.
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <acemq/codec.hpp>
#include <acemq/message_factory.hpp>
#include <acemq/outbox/record.hpp>

namespace {

struct Order {
  std::string id;
  long cents = 0;
};

// Encoding happens while the record is made, so a payload that cannot be encoded is refused before anything is written.
struct OrderCodec {
  std::string encode(const Order& order) const {
    if (order.cents < 0) throw std::invalid_argument("order " + order.id + " has a negative price");
    return "id=" + order.id + "&cents=" + std::to_string(order.cents);
  }
  std::string_view content_type() const noexcept { return "application/x-www-form-urlencoded"; }
};

// One that wraps another: where encryption, compression or signing go.
template <class Inner>
struct Reversed {
  Inner inner;
  template <class Payload>
  std::string encode(const Payload& payload) const {
    const std::string bytes = inner.encode(payload);
    return {bytes.rbegin(), bytes.rend()};
  }
  std::string_view content_type() const noexcept { return "application/octet-stream"; }
};

void print(const acemq::outbox::Record& record) { std::cout << record.content_type << ": " << record.body << '\n'; }

}  // namespace

int main() try {
  const acemq::BasicMessageFactory<OrderCodec> shop{{.origin = "shop@web-1"}};
  const Order order{.id = "A-1", .cents = 1999};
  print(acemq::outbox::record(shop, order, {.to = "order.placed"}));
  print(acemq::outbox::record(shop, order, {.to = "order.placed"}, Reversed<OrderCodec>{}));  // for this record only

  try {
    acemq::outbox::record(shop, Order{.id = "A-2", .cents = -1}, {.to = "order.placed"});
  } catch (const std::invalid_argument& error) {
    std::cout << "refused: " << error.what() << '\n';
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
