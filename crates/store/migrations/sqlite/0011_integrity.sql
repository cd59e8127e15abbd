-- Noticing and setting aside what is damaged, and a row to write to when readiness is asked for.

-- Null in rows that were written before there was one; those are filled in over time.
ALTER TABLE device ADD COLUMN checksum INTEGER;
ALTER TABLE alert ADD COLUMN checksum INTEGER;
ALTER TABLE last_location ADD COLUMN checksum INTEGER;
-- Of the columns beside the packed locations, which have a checksum of their own.
ALTER TABLE location_log ADD COLUMN checksum INTEGER;
CREATE INDEX device_without_checksum ON device (account_id, id) WHERE checksum IS NULL;
CREATE INDEX alert_without_checksum ON alert (account_id, id) WHERE checksum IS NULL;
CREATE INDEX last_location_without_checksum ON last_location (account_id, device_id) WHERE checksum IS NULL;

-- Rows that could not be read, as they were found. Without references: what they say may be wrong.
CREATE TABLE quarantine (
    id           INTEGER NOT NULL PRIMARY KEY,
    found_at     INTEGER NOT NULL,
    -- The table it was in.
    source       TEXT    NOT NULL,
    account_id   INTEGER,
    -- Null when the row is of several devices.
    device_id    INTEGER,
    first_number INTEGER,
    last_number  INTEGER,
    first_time   INTEGER,
    last_time    INTEGER,
    -- Locations in it.
    count        INTEGER,
    reason       TEXT    NOT NULL,
    -- Its packed bytes, or its columns as JSON.
    data         BLOB    NOT NULL
) STRICT;
CREATE INDEX quarantine_by_device ON quarantine (account_id, device_id);

CREATE TABLE readiness (
    id     INTEGER NOT NULL PRIMARY KEY,
    at     INTEGER NOT NULL,
    filler BLOB    NOT NULL
) STRICT;
