-- ?1 attempts at which a row is retired, ?2 rows at most.
SELECT id, exchange_name, routing_key, coalesce(last_error, ''), created_at, attempts
  FROM "{table}"
 WHERE published_at IS NULL AND attempts >= ?1
 ORDER BY substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26), id
 LIMIT ?2
