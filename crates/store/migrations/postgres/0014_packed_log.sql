-- The log gets one packed row for each device and commit instead of a row and three index entries for each location.
-- The rows that are there are packed by the program after this, in the same transaction.

ALTER TABLE location_log RENAME TO location_log_unpacked;
ALTER INDEX location_log_pkey RENAME TO location_log_unpacked_pkey;
ALTER INDEX location_log_by_account RENAME TO location_log_unpacked_by_account;
ALTER INDEX location_log_by_device RENAME TO location_log_unpacked_by_device;

-- Rows of one account do not overlap in their numbers. As before, a device's rows are deleted with it by a trigger, and
-- that it exists was seen under the account's lock.
CREATE TABLE location_log (
    account_id   BIGINT  NOT NULL,
    device_id    BIGINT  NOT NULL,
    first_number BIGINT  NOT NULL,
    last_number  BIGINT  NOT NULL,
    -- The earliest and the latest fix time.
    first_time   BIGINT  NOT NULL,
    last_time    BIGINT  NOT NULL,
    count        INTEGER NOT NULL CHECK (count > 0),
    received_at  BIGINT  NOT NULL,
    -- Of the columns above; the packed locations have their own.
    checksum     BIGINT  NOT NULL,
    points       BYTEA   NOT NULL,
    PRIMARY KEY (account_id, last_number)
);
-- With the times, so that a search for duplicates touches only rows that overlap.
CREATE INDEX location_log_by_device ON location_log (account_id, device_id, last_number, first_time, last_time);
-- Packed bytes cannot be compressed further; trying costs time.
ALTER TABLE location_log ALTER COLUMN points SET STORAGE EXTERNAL;
ALTER TABLE location_chunk ALTER COLUMN points SET STORAGE EXTERNAL;

-- No stored location of the device is later than this: a location after it is new without a search.
ALTER TABLE device_live ADD COLUMN newest_time BIGINT;
UPDATE device_live v SET newest_time = GREATEST(
    (SELECT MAX(l.time) FROM location_log_unpacked l
     WHERE l.account_id = v.account_id AND l.device_id = v.device_id),
    (SELECT MAX(c.last_time) FROM location_chunk c
     WHERE c.account_id = v.account_id AND c.device_id = v.device_id));
