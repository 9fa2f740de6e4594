-- The family's index. Relays in other languages claim by it; ours finds by it what is old enough to purge.
CREATE INDEX IF NOT EXISTS "{table}_pending" ON "{table}" (published_at, created_at);
