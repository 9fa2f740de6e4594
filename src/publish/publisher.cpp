#include <algorithm>
#include <string>
#include <utility>

#include "acemq/connection.hpp"
#include "publish/message_of.hpp"
#include "publish/shared_channel.hpp"

namespace acemq {
namespace {

ConnectionOptions checked(ConnectionOptions options) {
  using namespace std::chrono_literals;
  const auto refuse = [](const char* option, const char* bounds, auto value) {
    throw InvalidConfiguration(option, bounds, std::to_string(value));
  };
  if (options.confirm_timeout < 100ms || options.confirm_timeout > 1h)
    refuse("confirm_timeout", "must be 100 ms to 1 h", options.confirm_timeout.count());
  if (options.open_timeout < 1ms || options.open_timeout > 1h)
    refuse("open_timeout", "must be 1 ms to 1 h", options.open_timeout.count());
  if (options.unconfirmed_max < 1 || options.unconfirmed_max > 100'000)
    refuse("unconfirmed_max", "must be 1 to 100000 messages", options.unconfirmed_max);
  if (!options.clock) options.clock = &system_clock();
  std::stable_sort(options.interceptors.begin(), options.interceptors.end(),
                   [](const auto& left, const auto& right) { return left->order() < right->order(); });
  return options;
}

template <class Call>
void contained(Call call) noexcept {
  try {
    call();
  } catch (...) {  // the message is settled: nothing that an onlooker does can change that
  }
}

}  // namespace

struct Publisher::State {
  State(std::shared_ptr<Transport> the_transport, ConnectionOptions the_options)
      : transport(std::move(the_transport)),
        options(checked(std::move(the_options))),
        channel(transport->publish_channel(), *options.clock,
                {.confirm_timeout = options.confirm_timeout,
                 .open_timeout = options.open_timeout,
                 .messages_max = options.unconfirmed_max}) {}

  Message prepare(outbox::Record&& record) const {
    Message message = publish::message_of(std::move(record), options.mandatory);
    for (const auto& interceptor : options.interceptors) interceptor->before_publish(message);
    publish::check(message);
    return message;
  }

  void tell(const Message& message, const PublishOutcome& outcome) const noexcept {
    for (const auto& interceptor : options.interceptors) {
      contained([&] { outcome.confirmed() ? interceptor->after_confirm(message) : interceptor->on_error(message, outcome); });
    }
  }

  const std::shared_ptr<Transport> transport;  // outlives its channel
  const ConnectionOptions options;
  publish::SharedChannel channel;
};

Publisher::Publisher(std::shared_ptr<Transport> transport, ConnectionOptions options)
    : state_(std::make_unique<State>(std::move(transport), std::move(options))) {}

Publisher::~Publisher() = default;

PublishOutcome Publisher::publish(outbox::Record record) {
  std::vector<outbox::Record> records;
  records.push_back(std::move(record));
  return std::move(publish_all(std::move(records)).outcomes.front());
}

BatchOutcome Publisher::publish_all(std::vector<outbox::Record> records) {
  std::vector<Message> messages;
  messages.reserve(records.size());
  for (outbox::Record& record : records) messages.push_back(state_->prepare(std::move(record)));
  BatchOutcome batch{state_->channel.publish(messages)};
  for (std::size_t i = 0; i < messages.size(); ++i) state_->tell(messages[i], batch.outcomes[i]);
  return batch;
}

}  // namespace acemq
