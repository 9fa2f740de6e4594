#include "amqp/wire/field_table.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace acemq::amqp {
namespace {

void write_entries(Writer& writer, const Headers& table, int depth);

void write_integer(Writer& writer, std::int64_t value) {
  if (std::in_range<std::int32_t>(value)) {
    writer.u8('I');
    writer.u32(static_cast<std::uint32_t>(value));
  } else {
    writer.u8('l');
    writer.u64(static_cast<std::uint64_t>(value));
  }
}

void write_value(Writer& writer, const HeaderValue& value, int depth) {
  if (depth > kFieldNestingMax) return writer.fail("headers nested deeper than " + std::to_string(kFieldNestingMax));
  if (const auto* text = value.as_string()) {
    writer.u8('S');
    writer.long_string(*text);
  } else if (const auto* integer = value.as_int()) {
    write_integer(writer, *integer);
  } else if (const auto* boolean = value.as_bool()) {
    writer.u8('t');
    writer.u8(*boolean ? 1 : 0);
  } else if (const auto* number = value.as_double()) {
    // RabbitMQ cannot parse NaN and infinity, and closes the connection over them.
    if (!std::isfinite(*number)) return writer.fail("header value that is not a finite number");
    writer.u8('d');
    writer.u64(std::bit_cast<std::uint64_t>(*number));
  } else if (const auto* table = value.as_table()) {
    writer.u8('F');
    write_entries(writer, *table, depth + 1);
  } else if (const auto* list = value.as_list()) {
    writer.u8('A');
    const std::size_t begin = writer.begin_length();
    for (const HeaderValue& element : *list) write_value(writer, element, depth + 1);
    writer.end_length(begin);
  } else {
    writer.u8('V');
  }
}

void write_entries(Writer& writer, const Headers& table, int depth) {
  const std::size_t begin = writer.begin_length();
  for (const Headers::Entry& entry : table) {
    writer.short_string("header name", entry.name);
    write_value(writer, entry.value, depth);
  }
  writer.end_length(begin);
}

Headers read_entries(Reader& reader, int depth);

HeaderValue from_unsigned(std::uint64_t value) {
  if (std::in_range<std::int64_t>(value)) return value;
  return static_cast<double>(value);
}

HeaderValue read_decimal(Reader& reader) {
  const int scale = reader.u8();
  return static_cast<double>(static_cast<std::int32_t>(reader.u32())) / std::pow(10.0, scale);
}

HeaderValue read_value(Reader& reader, int depth);

HeaderValue read_list(Reader& reader, int depth) {
  Reader elements(reader.long_string());
  HeaderList list;
  while (!elements.at_end()) list.push_back(read_value(elements, depth));
  if (!elements.ok()) reader.fail();
  return list;
}

HeaderValue read_value(Reader& reader, int depth) {
  const auto type = static_cast<char>(reader.u8());
  if (depth > kFieldNestingMax) {
    reader.fail();
    return nullptr;
  }
  switch (type) {
    case 'S':
    case 'x':
      return reader.long_string();
    case 't':
      return reader.u8() != 0;
    case 'b':
      return static_cast<std::int8_t>(reader.u8());
    case 'B':
      return reader.u8();
    case 's':  // signed in RabbitMQ; the AMQP specification means a short string, which no client sends
      return static_cast<std::int16_t>(reader.u16());
    case 'u':
      return reader.u16();
    case 'I':
      return static_cast<std::int32_t>(reader.u32());
    case 'i':
      return reader.u32();
    case 'l':
    case 'L':
      return static_cast<std::int64_t>(reader.u64());
    case 'T':
      return from_unsigned(reader.u64());
    case 'f':
      return static_cast<double>(std::bit_cast<float>(reader.u32()));
    case 'd':
      return std::bit_cast<double>(reader.u64());
    case 'D':
      return read_decimal(reader);
    case 'F':
      return read_entries(reader, depth + 1);
    case 'A':
      return read_list(reader, depth + 1);
    case 'V':
      return nullptr;
    default:
      reader.fail();
      return nullptr;
  }
}

Headers read_entries(Reader& reader, int depth) {
  Reader entries(reader.long_string());
  Headers table;
  std::unordered_set<std::string_view> seen;
  while (!entries.at_end()) {
    const std::string_view name = entries.short_string();
    HeaderValue value = read_value(entries, depth);
    if (entries.ok() && seen.insert(name).second) table.append_unique(std::string(name), std::move(value));
  }
  if (!entries.ok()) reader.fail();
  return table;
}

}  // namespace

void write_table(Writer& writer, const Headers& table) { write_entries(writer, table, 0); }

Headers read_table(Reader& reader) { return read_entries(reader, 0); }

}  // namespace acemq::amqp
