-- A checksum of the state of each device, and of the number from which the location log is replayed. Null in rows that were
-- written before there was one; those are filled in over time.
ALTER TABLE device_live ADD COLUMN checksum INTEGER;
CREATE INDEX device_live_without_checksum ON device_live (account_id, device_id) WHERE checksum IS NULL;
ALTER TABLE location_replay ADD COLUMN checksum INTEGER;
