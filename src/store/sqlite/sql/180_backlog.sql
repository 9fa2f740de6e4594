-- ?1 attempts at which a row is retired, ?2 now as YYYY-MM-DD HH:MM:SS.ffffff. One statement, so that the numbers agree; it reads
-- pending rows only. Of the oldest row the stored text is returned, chosen by the normalised one.
SELECT count(*) AS pending,
       count(*) FILTER (WHERE held AND locked_by IS NULL) AS waiting,
       count(*) FILTER (WHERE held AND locked_by IS NOT NULL) AS leased,
       count(*) FILTER (WHERE attempts >= ?1) AS retired,
       (SELECT created_at FROM "{table}"
         WHERE published_at IS NULL AND attempts < ?1
         ORDER BY substr(replace(replace(created_at, 'T', ' '), 'Z', ''), 1, 26), id
         LIMIT 1) AS oldest
  FROM (SELECT attempts, locked_by,
               attempts < ?1 AND substr(replace(replace(locked_until, 'T', ' '), 'Z', ''), 1, 26) > ?2 AS held
          FROM "{table}"
         WHERE published_at IS NULL)
