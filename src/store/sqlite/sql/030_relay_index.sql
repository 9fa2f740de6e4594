-- The order in which rows are sent, whichever of the two time formats a row was written in. Published rows leave this index, so
-- history costs a claim nothing. The last three columns let a claim pass by a long row of waiting or retired records without
-- reading the records.
CREATE INDEX IF NOT EXISTS "{table}_relay" ON "{table}" (
  substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26), id, exchange_name, routing_key, attempts
) WHERE published_at IS NULL;
