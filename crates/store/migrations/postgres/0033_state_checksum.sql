-- A checksum of the state of each device. Null in rows that were written before there was one; those are filled in over time.
-- Without an index: it changes with every location.
ALTER TABLE device_live ADD COLUMN checksum BIGINT;
