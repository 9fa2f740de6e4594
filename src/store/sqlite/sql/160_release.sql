-- ?1 id, ?2 token, ?3 reason, or NULL to leave what stands there.
UPDATE "{table}"
   SET last_error = coalesce(?3, last_error), locked_by = NULL, locked_until = NULL
 WHERE id IN (?1, CAST(?1 AS BLOB)) AND locked_by = ?2 AND published_at IS NULL
