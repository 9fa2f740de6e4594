// nlohmann::json as a payload: inline, compiled against the application's own copy of that library.
//
//   const acemq::BasicMessageFactory<acemq::NlohmannCodec> shop{{.origin = "shop@web-1"}};
//   acemq::outbox::record(shop, nlohmann::json{{"order", "A-1"}}, {.to = "order.placed"});
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "acemq/error.hpp"

namespace acemq {

// application/json, compact, non-ASCII characters as they are.
struct NlohmannCodec {
  // Takes any basic_json (json, ordered_json). Throws InvalidRecord{"payload"} for text that is not UTF-8, and for NaN and
  // infinity anywhere, which the library would silently write as null.
  template <class Json>
  requires nlohmann::detail::is_basic_json<Json>::value std::string encode(const Json& payload)
  const {
    check_finite(payload);
    try {
      return payload.dump();
    } catch (const typename Json::type_error& error) {
      throw InvalidRecord("payload", "must be JSON with UTF-8 text", error.what());
    }
  }
  std::string_view content_type() const noexcept { return "application/json"; }

 private:
  template <class Json>
  static void check_finite(const Json& value) {
    if (value.is_structured()) {
      for (const auto& element : value) check_finite(element);
    } else if (value.is_number_float()) {
      const auto number = value.template get<double>();
      if (number - number != 0) throw InvalidRecord("payload", "must not hold NaN or infinity", std::to_string(number));
    }
  }
};

}  // namespace acemq
