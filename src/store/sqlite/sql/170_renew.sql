-- ?1 id, ?2 token, ?3 new end of the lease.
UPDATE "{table}"
   SET locked_until = ?3
 WHERE id IN (?1, CAST(?1 AS BLOB)) AND locked_by = ?2 AND published_at IS NULL
