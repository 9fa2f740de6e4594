#include "acemq/outbox/insert.hpp"

#include <cstddef>
#include <utility>

#include "base/timestamp.hpp"
#include "message/headers_json.hpp"
#include "outbox/row_rules.hpp"

namespace acemq::outbox {
namespace {

constexpr std::string_view kInsert = R"sql(
INSERT INTO {table} (id, exchange_name, routing_key, body, body_encoding, content_type, headers, created_at,
                     published_at, attempts, last_error, locked_by, locked_until)
VALUES (?, ?, ?, ?, ?, ?, ?, {created_at}, NULL, 0, NULL, NULL, NULL)
ON CONFLICT (id) DO NOTHING)sql";

// The newest row's format wins, since whoever wrote it compares times as text; an empty table says by its declared type who
// made it. Two formats are offered and each placeholder stands once, so that any client's style works.
constexpr std::string_view kCreatedAtAsInTable = R"sql(
  CASE coalesce(
    (SELECT CASE substr(created_at, 11, 1) WHEN 'T' THEN 'iso' WHEN ' ' THEN 'rails' END
       FROM {table} ORDER BY rowid DESC LIMIT 1),
    (SELECT CASE WHEN instr(lower(type), 'datetime') THEN 'rails' END
       FROM pragma_table_info('{table}') WHERE name = 'created_at'),
    'iso')
  WHEN 'rails' THEN ? ELSE ? END)sql";

// The same for a caller who knows the declared type: half as long to prepare.
constexpr std::string_view kCreatedAtElse = "CASE (SELECT substr(created_at, 11, 1) FROM {table} ORDER BY rowid DESC LIMIT 1) ";
constexpr std::string_view kElseRails = "WHEN 'T' THEN ? ELSE ? END";
constexpr std::string_view kElseIso = "WHEN ' ' THEN ? ELSE ? END";

// Application headers are compared as sets of JSON values and where they stand, never as text: order, spacing and escapes
// differ between writers (CONTRACT 2.2), in names as well, so a place is made of keys: SQLite's own fullkey repeats the text. The
// envelope is left out, but for type and version, and so is trace context: a retried record() differs in both. Headers that are
// not JSON count as different.
constexpr std::string_view kConflict = R"sql(
WITH RECURSIVE
pair AS (
  SELECT stored.id, stored.exchange_name, stored.routing_key, stored.content_type, stored.body, stored.body_encoding,
         CASE WHEN stored.headers = '' THEN '{}' WHEN json_valid(stored.headers) THEN stored.headers END AS headers,
         given.exchange_name AS new_exchange_name, given.routing_key AS new_routing_key, given.content_type AS new_content_type,
         given.body AS new_body, given.body_encoding AS new_body_encoding, given.headers AS new_headers
    FROM (SELECT ? AS id, ? AS exchange_name, ? AS routing_key, ? AS body, ? AS body_encoding, ? AS content_type,
                 ? AS headers) AS given
    LEFT JOIN {table} AS stored ON stored.id = given.id),
side AS (SELECT 'old' AS name, headers FROM pair UNION ALL SELECT 'new', new_headers FROM pair),
node AS (
  SELECT side.name AS side, tree.id, tree.parent, tree.key, tree.type, tree.atom FROM side, json_tree(side.headers) AS tree),
header (side, id, place, type, atom) AS (
  SELECT side, id, '', type, atom FROM node WHERE parent IS NULL
  UNION ALL
  SELECT node.side, node.id, header.place || '/' || json_quote(node.key), node.type, node.atom
    FROM header JOIN node ON node.side = header.side AND node.parent = header.id
   WHERE NOT (header.place = '' AND (substr(node.key, 1, 8) = 'x-acemq-' OR node.key IN ('traceparent', 'tracestate')))),
verdict AS (
  SELECT CASE
    WHEN id IS NULL THEN 'id'
    WHEN exchange_name IS NOT new_exchange_name THEN 'exchange'
    WHEN routing_key IS NOT new_routing_key THEN 'routing_key'
    WHEN headers IS NULL THEN 'headers'
    WHEN coalesce(json_extract(headers, '$."x-acemq-type"'), routing_key)
         IS NOT coalesce(json_extract(new_headers, '$."x-acemq-type"'), new_routing_key) THEN 'type'
    WHEN coalesce(json_extract(headers, '$."x-acemq-version"'), 1)
         IS NOT coalesce(json_extract(new_headers, '$."x-acemq-version"'), 1) THEN 'version'
    WHEN content_type IS NOT new_content_type THEN 'content_type'
    WHEN body IS NOT new_body OR body_encoding IS NOT new_body_encoding THEN 'body'
    WHEN EXISTS (SELECT 1 FROM header GROUP BY place, type, atom HAVING count(DISTINCT side) = 1) THEN 'headers'
    END AS field
  FROM pair)
SELECT field FROM verdict WHERE field IS NOT NULL)sql";

std::string replace_all(std::string_view text, std::string_view what, std::string_view by) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(what);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += by;
    text.remove_prefix(at + what.size());
  }
}

// Our statements mark parameters with "?" and hold no other.
std::string with_placeholders(std::string sql, Placeholders style) {
  if (style == Placeholders::question) return sql;
  std::string result;
  int count = 0;
  for (const char c : sql) {
    if (c == '?') {
      result += (style == Placeholders::dollar ? "$" : ":p") + std::to_string(++count);
    } else {
      result += c;
    }
  }
  return result;
}

// All columns but the time, in the table's order.
std::vector<std::string> columns(const Record& record) {
  StoredBody body = encode_body(record.body);
  return {record.id,
          record.exchange,
          record.routing_key,
          std::move(body.text),
          std::string(body.encoding),
          record.content_type,
          message::to_json(record.headers)};
}

std::string created_at_expression(const InsertOptions& options) {
  if (options.time_format != TimeFormat::automatic) return "?";
  switch (options.declared_format) {
    case TimeFormat::automatic:
      break;
    case TimeFormat::iso:
      return std::string(kCreatedAtElse).append(kElseIso);
    case TimeFormat::rails:
      return std::string(kCreatedAtElse).append(kElseRails);
  }
  return std::string(kCreatedAtAsInTable);
}

std::string formatted(Timestamp time, TimeFormat format) {
  return format == TimeFormat::rails ? base::format_rails(time) : base::format_iso(time);
}

Statement statement(std::string_view sql, std::vector<std::string> parameters, const InsertOptions& options) {
  return {with_placeholders(replace_all(sql.substr(1), "{table}", options.table), options.placeholders), std::move(parameters)};
}

}  // namespace

Statement insert_statement(const Record& record, const InsertOptions& options) {
  check_table_name(options.table);
  check(record);
  std::vector<std::string> parameters = columns(record);
  if (options.time_format != TimeFormat::automatic) {
    parameters.push_back(formatted(record.created_at, options.time_format));
  } else {
    // The last one is what an empty table gets.
    const bool else_rails = options.declared_format == TimeFormat::rails;
    parameters.push_back(formatted(record.created_at, else_rails ? TimeFormat::iso : TimeFormat::rails));
    parameters.push_back(formatted(record.created_at, else_rails ? TimeFormat::rails : TimeFormat::iso));
  }
  return statement(replace_all(kInsert, "{created_at}", created_at_expression(options)), std::move(parameters), options);
}

Statement conflict_statement(const Record& record, const InsertOptions& options) {
  check_table_name(options.table);
  check(record);
  return statement(kConflict, columns(record), options);
}

}  // namespace acemq::outbox
