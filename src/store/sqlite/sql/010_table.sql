-- The family's canonical outbox table (CONTRACT 1.3). Times are text, in UTC with microseconds: 2026-01-02T03:04:05.678901Z.
-- A row is pending while published_at is NULL. locked_by and locked_until together are a relay's lease; locked_until alone is
-- when a row whose delivery failed may be tried again.
CREATE TABLE IF NOT EXISTS "{table}" (
  id             VARCHAR(64)              NOT NULL PRIMARY KEY,
  exchange_name  VARCHAR(255)             NOT NULL,
  routing_key    VARCHAR(255)             NOT NULL,
  body           TEXT                     NOT NULL,
  body_encoding  VARCHAR(16)              NOT NULL,
  content_type   VARCHAR(255)             NOT NULL,
  headers        TEXT                     NOT NULL,
  created_at     TIMESTAMP WITH TIME ZONE NOT NULL,
  published_at   TIMESTAMP WITH TIME ZONE,
  attempts       INTEGER                  NOT NULL DEFAULT 0,
  last_error     VARCHAR(1000),
  locked_by      VARCHAR(64),
  locked_until   TIMESTAMP WITH TIME ZONE
);
