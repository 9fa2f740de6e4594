-- ?1 id, ?2 now. Whoever holds the lease: the message is at the broker. The cast finds ids that old writers stored as blobs,
-- which equal no text (CONTRACT 2.1); both look-ups use the primary key.
UPDATE "{table}"
   SET published_at = coalesce(published_at, ?2), locked_by = NULL, locked_until = NULL
 WHERE id IN (?1, CAST(?1 AS BLOB))
