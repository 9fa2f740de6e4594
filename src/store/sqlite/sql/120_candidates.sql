-- ?1 attempts at which a row is retired, ?2 now, ?3 least created_at, ?4 rows at most, ?5 now, or '' when the claim itself starts
-- above some rows; times as YYYY-MM-DD HH:MM:SS.ffffff.
--
-- A lane is left out while a row of it waits after a failure. A claim that starts above some rows leaves it out until that row
-- has been claimed again, or it would send newer rows of the lane first. It is CASE and not NOT IN because the latter, for a pair
-- that it does not find, looks through the whole set once more for a NULL.
-- What may be claimed, in order. Both time formats are compared and ordered in one normalised form: as raw text a space sorts
-- before a T, and leases of the other format would look over, or live until the next day (CONTRACT 2.3).
-- The last column is a row's place in the order.
-- The indexes are named because without statistics SQLite prefers {table}_pending, and then sorts every pending row.
SELECT rowid, id, exchange_name, routing_key, body, body_encoding, content_type, headers, created_at, attempts,
       substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26)
  FROM "{table}" {by_relay_index}
 WHERE published_at IS NULL
   AND attempts < ?1
   AND (locked_until IS NULL OR substr(replace(replace(locked_until, 'T', ' '), 'Z', ''), 1, 26) <= ?2)
   AND substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26) >= ?3
   AND CASE WHEN (exchange_name, routing_key) IN (
       SELECT exchange_name, routing_key
         FROM "{table}" {by_waiting_index}
        WHERE published_at IS NULL
          AND locked_by IS NULL
          AND locked_until IS NOT NULL
          AND substr(replace(replace(locked_until, 'T', ' '), 'Z', ''), 1, 26) > ?5
          AND attempts < ?1) THEN 0 ELSE 1 END
 ORDER BY substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26), id
 LIMIT ?4
