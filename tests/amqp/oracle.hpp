// librabbitmq as an independent opinion: it reads what we wrote and writes what a broker says.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <amqp.h>
#include <amqp_framing.h>

#include "acemq/headers.hpp"

namespace acemq::amqp::oracle {

inline std::string_view view(amqp_bytes_t bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

// librabbitmq reads only, though its type cannot say so.
inline amqp_bytes_t bytes(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

inline Headers to_headers(const amqp_table_t& table);

inline HeaderValue to_value(const amqp_field_value_t& field) {
  switch (field.kind) {
    case AMQP_FIELD_KIND_UTF8:
    case AMQP_FIELD_KIND_BYTES:
      return view(field.value.bytes);
    case AMQP_FIELD_KIND_BOOLEAN:
      return field.value.boolean != 0;
    case AMQP_FIELD_KIND_I32:
      return field.value.i32;
    case AMQP_FIELD_KIND_I64:
      return field.value.i64;
    case AMQP_FIELD_KIND_F64:
      return field.value.f64;
    case AMQP_FIELD_KIND_VOID:
      return nullptr;
    case AMQP_FIELD_KIND_TABLE:
      return to_headers(field.value.table);
    case AMQP_FIELD_KIND_ARRAY: {
      HeaderList list;
      for (int i = 0; i < field.value.array.num_entries; ++i) list.push_back(to_value(field.value.array.entries[i]));
      return list;
    }
    default:
      throw std::runtime_error("a type we never write: " + std::string(1, static_cast<char>(field.kind)));
  }
}

inline Headers to_headers(const amqp_table_t& table) {
  Headers headers;
  for (int i = 0; i < table.num_entries; ++i) {
    headers.append_unique(std::string(view(table.entries[i].key)), to_value(table.entries[i].value));
  }
  return headers;
}

class Pool {
 public:
  Pool() { init_amqp_pool(&pool_, 4096); }
  ~Pool() { empty_amqp_pool(&pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  amqp_pool_t* get() { return &pool_; }

  template <class T>
  T* array(std::size_t count) {
    return static_cast<T*>(amqp_pool_alloc(&pool_, count * sizeof(T) + 1));
  }

 private:
  amqp_pool_t pool_{};
};

inline amqp_table_t to_table(Pool& pool, const Headers& headers);

inline amqp_field_value_t to_field(Pool& pool, const HeaderValue& value) {
  amqp_field_value_t field{};
  if (const auto* text = value.as_string()) {
    field.kind = AMQP_FIELD_KIND_UTF8;
    field.value.bytes = bytes(*text);
  } else if (const auto* boolean = value.as_bool()) {
    field.kind = AMQP_FIELD_KIND_BOOLEAN;
    field.value.boolean = *boolean;
  } else if (const auto* integer = value.as_int()) {
    field.kind = AMQP_FIELD_KIND_I64;
    field.value.i64 = *integer;
  } else if (const auto* number = value.as_double()) {
    field.kind = AMQP_FIELD_KIND_F64;
    field.value.f64 = *number;
  } else if (const auto* table = value.as_table()) {
    field.kind = AMQP_FIELD_KIND_TABLE;
    field.value.table = to_table(pool, *table);
  } else if (const auto* list = value.as_list()) {
    field.kind = AMQP_FIELD_KIND_ARRAY;
    field.value.array = {static_cast<int>(list->size()), pool.array<amqp_field_value_t>(list->size())};
    for (std::size_t i = 0; i < list->size(); ++i) field.value.array.entries[i] = to_field(pool, (*list)[i]);
  } else {
    field.kind = AMQP_FIELD_KIND_VOID;
  }
  return field;
}

inline amqp_table_t to_table(Pool& pool, const Headers& headers) {
  amqp_table_t table{static_cast<int>(headers.size()), pool.array<amqp_table_entry_t>(headers.size())};
  amqp_table_entry_t* next = table.entries;
  for (const Headers::Entry& entry : headers) *next++ = {bytes(entry.name), to_field(pool, entry.value)};
  return table;
}

inline std::string encode_table(amqp_table_t table) {
  std::string out(1 << 20, '\0');
  std::size_t size = 0;
  if (amqp_encode_table(bytes(out), &table, &size) != 0) throw std::runtime_error("librabbitmq cannot encode the table");
  out.resize(size);
  return out;
}

// The table that takes exactly these bytes.
inline Headers decode_table(std::string_view encoded) {
  Pool pool;
  amqp_table_t table{};
  std::size_t offset = 0;
  if (amqp_decode_table(bytes(encoded), pool.get(), &table, &offset) != 0)
    throw std::runtime_error("librabbitmq cannot read the table");
  if (offset != encoded.size()) throw std::runtime_error("the table is shorter than what was written");
  return to_headers(table);
}

// --- what a broker says ---

inline std::string big_endian(std::uint64_t value, int size) {
  std::string out;
  while (size-- > 0) out.push_back(static_cast<char>(value >> (8 * size)));
  return out;
}

inline std::string frame(int type, int channel, std::string_view payload) {
  return big_endian(static_cast<std::uint64_t>(type), 1) + big_endian(static_cast<std::uint64_t>(channel), 2) +
         big_endian(payload.size(), 4) + std::string(payload) + '\xCE';
}

template <class Arguments>
std::string method(int channel, amqp_method_number_t id, Arguments arguments) {
  std::string out(1 << 16, '\0');
  const int size = amqp_encode_method(id, &arguments, bytes(out));
  if (size < 0) throw std::runtime_error("librabbitmq cannot encode the method");
  out.resize(static_cast<std::size_t>(size));
  return frame(AMQP_FRAME_METHOD, channel, big_endian(id, 4) + out);
}

inline std::string method(int channel, amqp_method_number_t id) { return method(channel, id, amqp_connection_close_ok_t{}); }

inline std::string content_header(int channel, amqp_basic_properties_t properties, std::uint64_t body_size) {
  std::string out(1 << 16, '\0');
  const int size = amqp_encode_properties(AMQP_BASIC_CLASS, &properties, bytes(out));
  if (size < 0) throw std::runtime_error("librabbitmq cannot encode the properties");
  out.resize(static_cast<std::size_t>(size));
  return frame(AMQP_FRAME_HEADER, channel, big_endian(AMQP_BASIC_CLASS, 2) + big_endian(0, 2) + big_endian(body_size, 8) + out);
}

inline std::string body(int channel, std::string_view part) { return frame(AMQP_FRAME_BODY, channel, part); }

// --- what a client said ---

// A stream of frames, as lines for people: "1 publish ex key mandatory".
class Listener {
 public:
  Listener() : state_(amqp_new_connection()) {
    // It can be told to take large frames only after it has heard a protocol header.
    amqp_frame_t heard{};
    amqp_handle_input(state_, bytes(kProtocolHeader), &heard);
    amqp_tune_connection(state_, 0, 1 << 24, 0);
  }
  ~Listener() { amqp_destroy_connection(state_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::vector<std::string> hear(std::string_view said) {
    std::vector<std::string> lines;
    if (said.substr(0, kProtocolHeader.size()) == kProtocolHeader) {
      lines.push_back("protocol header");
      said.remove_prefix(kProtocolHeader.size());
    }
    while (!said.empty()) {
      amqp_frame_t heard{};
      const int taken = amqp_handle_input(state_, bytes(said), &heard);
      if (taken < 0) {
        lines.push_back(std::string("librabbitmq: ") + amqp_error_string2(taken));
        break;
      }
      said.remove_prefix(static_cast<std::size_t>(taken));
      if (heard.frame_type != 0) lines.push_back(describe(heard));
    }
    return lines;
  }

  const std::string& last_body() const { return last_body_; }
  const Headers& last_headers() const { return last_headers_; }

 private:
  static constexpr std::string_view kProtocolHeader{"AMQP\0\0\x09\x01", 8};

  std::string describe(const amqp_frame_t& heard) {
    const std::string channel = std::to_string(heard.channel) + " ";
    switch (heard.frame_type) {
      case AMQP_FRAME_METHOD:
        return channel + describe(heard.payload.method);
      case AMQP_FRAME_HEADER:
        return channel + describe(*static_cast<amqp_basic_properties_t*>(heard.payload.properties.decoded)) +
               " size=" + std::to_string(heard.payload.properties.body_size);
      case AMQP_FRAME_BODY:
        last_body_ = view(heard.payload.body_fragment);
        return channel + "body of " + std::to_string(last_body_.size());
      default:
        return "heartbeat";
    }
  }

  std::string describe(const amqp_basic_properties_t& properties) {
    last_headers_ = to_headers(properties.headers);
    return "header flags=" + std::to_string(properties._flags) + " id=" + std::string(view(properties.message_id)) +
           " type=" + std::string(view(properties.content_type)) + " mode=" + std::to_string(properties.delivery_mode);
  }

  template <class Arguments>
  static const Arguments& as(const amqp_method_t& method) {
    return *static_cast<const Arguments*>(method.decoded);
  }

  static std::string flag(amqp_boolean_t value, const char* name) { return value != 0 ? std::string(" ") + name : std::string(); }

  std::string describe(const amqp_method_t& method) {
    std::string name = amqp_method_name(method.id);
    name = name.substr(5, name.size() - 12);  // AMQP_…_METHOD
    switch (method.id) {
      case AMQP_CONNECTION_START_OK_METHOD: {
        const auto& start_ok = as<amqp_connection_start_ok_t>(method);
        last_headers_ = to_headers(start_ok.client_properties);
        std::string response(view(start_ok.response));
        for (char& byte : response) {
          if (byte == '\0') byte = '|';
        }
        return name + " " + std::string(view(start_ok.mechanism)) + " " + response;
      }
      case AMQP_CONNECTION_TUNE_OK_METHOD: {
        const auto& tune = as<amqp_connection_tune_ok_t>(method);
        return name + " " + std::to_string(tune.channel_max) + " " + std::to_string(tune.frame_max) + " " +
               std::to_string(tune.heartbeat);
      }
      case AMQP_CONNECTION_OPEN_METHOD:
        return name + " " + std::string(view(as<amqp_connection_open_t>(method).virtual_host));
      case AMQP_CONNECTION_CLOSE_METHOD:
        return name + " " + std::to_string(as<amqp_connection_close_t>(method).reply_code);
      case AMQP_CHANNEL_CLOSE_METHOD:
        return name + " " + std::to_string(as<amqp_channel_close_t>(method).reply_code);
      case AMQP_CHANNEL_FLOW_OK_METHOD:
        return name + " " + std::to_string(as<amqp_channel_flow_ok_t>(method).active);
      case AMQP_BASIC_PUBLISH_METHOD: {
        const auto& publish = as<amqp_basic_publish_t>(method);
        return name + " '" + std::string(view(publish.exchange)) + "' '" + std::string(view(publish.routing_key)) + "'" +
               flag(publish.mandatory, "mandatory") + flag(publish.immediate, "immediate");
      }
      case AMQP_EXCHANGE_DECLARE_METHOD: {
        const auto& declare = as<amqp_exchange_declare_t>(method);
        last_headers_ = to_headers(declare.arguments);
        return name + " '" + std::string(view(declare.exchange)) + "' " + std::string(view(declare.type)) +
               flag(declare.passive, "passive") + flag(declare.durable, "durable") + flag(declare.auto_delete, "auto-delete") +
               flag(declare.internal, "internal") + flag(declare.nowait, "nowait");
      }
      case AMQP_QUEUE_DECLARE_METHOD: {
        const auto& declare = as<amqp_queue_declare_t>(method);
        last_headers_ = to_headers(declare.arguments);
        return name + " '" + std::string(view(declare.queue)) + "'" + flag(declare.passive, "passive") +
               flag(declare.durable, "durable") + flag(declare.exclusive, "exclusive") +
               flag(declare.auto_delete, "auto-delete") + flag(declare.nowait, "nowait");
      }
      case AMQP_QUEUE_BIND_METHOD: {
        const auto& bind = as<amqp_queue_bind_t>(method);
        return name + " '" + std::string(view(bind.queue)) + "' '" + std::string(view(bind.exchange)) + "' '" +
               std::string(view(bind.routing_key)) + "'" + flag(bind.nowait, "nowait");
      }
      default:
        return name;
    }
  }

  amqp_connection_state_t state_;
  std::string last_body_;
  Headers last_headers_;
};

}  // namespace acemq::amqp::oracle
