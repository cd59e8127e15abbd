-- Storing a location changes the last location of its device in place, without touching an index: one with a condition on a
-- column counts as an index on that column. Rows without a checksum are found by walking the table.
DROP INDEX last_location_without_checksum;

-- That the account exists was seen under its lock, and accounts stay. The reference looked again for every message and locked
-- the account's row, for which commits of the same account had to share a lock on disk.
ALTER TABLE raw_message DROP CONSTRAINT raw_message_account_id_fkey;
