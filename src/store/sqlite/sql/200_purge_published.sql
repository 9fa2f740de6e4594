-- ?1 the limit as YYYY-MM-DD HH:MM:SS.ffffff, ?2 its day as YYYY-MM-DDT, ?3 the limit as YYYY-MM-DDTHH:MM:SS.ffffffZ, ?4 rows at
-- most. Raw text on purpose: two ranges of {table}_pending hold exactly the rows that are older, in either format, since a space
-- sorts before a T: all earlier days and this day's rows with a space, then this day's rows with a T.
DELETE FROM "{table}" WHERE rowid IN (
  SELECT rowid FROM "{table}" WHERE published_at < ?1
  UNION ALL
  SELECT rowid FROM "{table}" WHERE published_at >= ?2 AND published_at < ?3
  LIMIT ?4)
