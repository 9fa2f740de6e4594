-- ?1 token, ?2 end of the lease, ?3 rowid. The write lock is held since the row was read, so nothing can have changed.
UPDATE "{table}" SET locked_by = ?1, locked_until = ?2 WHERE rowid = ?3
