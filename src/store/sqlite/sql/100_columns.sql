-- ?1 table. The columns that tell which shape a table has (CONTRACT 1.2).
SELECT name, type FROM pragma_table_info(?1)
