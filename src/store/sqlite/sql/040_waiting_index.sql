-- The few rows that wait after a failure: each claim leaves out their lanes.
CREATE INDEX IF NOT EXISTS "{table}_waiting" ON "{table}" (exchange_name, routing_key)
WHERE published_at IS NULL AND locked_by IS NULL AND locked_until IS NOT NULL;
