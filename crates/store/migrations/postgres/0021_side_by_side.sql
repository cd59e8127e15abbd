-- Submissions of one account run side by side and draw numbers for the log in blocks: a number that is drawn stands for
-- itself and the 8,191 below it. Programs that still rely on the lock of the account's row do not find the sequence under
-- its new name and store nothing.
SELECT setval('event_number_seq', 1) FROM event_number_seq WHERE NOT is_called;
ALTER SEQUENCE event_number_seq INCREMENT BY 8192;
ALTER SEQUENCE event_number_seq RENAME TO event_number;

-- When the locations of a device are due to be packed: null if all are, 0 if they fill a chunk. It seldom changes, so that
-- most updates of a row still touch no index.
ALTER TABLE device_live ADD COLUMN pack_due BIGINT;
UPDATE device_live SET pack_due = unpacked_since + 3600000 WHERE unpacked > 0;
ALTER TABLE device_live DROP COLUMN unpacked_since;
CREATE INDEX device_live_by_pack_due ON device_live (pack_due) WHERE pack_due IS NOT NULL;

-- The account of each share link, by its secret, so that the link itself is found with its account. Rows of links that were
-- deleted with their device leave when they end.
CREATE TABLE share_directory (
    secret     TEXT   NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL,
    ends       BIGINT NOT NULL
);
INSERT INTO share_directory (secret, account_id, ends) SELECT secret, account_id, ends FROM share;
CREATE INDEX share_directory_by_end ON share_directory (ends);

-- Unique keys of tables with an account contain it, so that the tables can be distributed by account. Both secrets are
-- random; what is looked up by them needs no more than an index.
ALTER TABLE share DROP CONSTRAINT share_secret_key;
CREATE INDEX share_by_secret ON share (account_id, secret);
ALTER TABLE gateway DROP CONSTRAINT gateway_secret_hash_key;
CREATE INDEX gateway_by_secret ON gateway (secret_hash);
