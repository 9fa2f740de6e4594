-- ?1 id, ?2 token, ?3 attempts to add, ?4 reason, ?5 when it may be tried again or NULL. Fenced: a relay that lost its lease
-- changes nothing.
UPDATE "{table}"
   SET attempts = attempts + ?3, last_error = ?4, locked_by = NULL, locked_until = ?5
 WHERE id IN (?1, CAST(?1 AS BLOB)) AND locked_by = ?2 AND published_at IS NULL
