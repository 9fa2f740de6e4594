-- How the last writer wrote the time: the format to write in, too (CONTRACT 2.3).
SELECT created_at FROM "{table}" ORDER BY rowid DESC LIMIT 1
