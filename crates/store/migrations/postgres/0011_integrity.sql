-- Noticing and setting aside what is damaged, and a row to write to when readiness is asked for.

-- Null in rows that were written before there was one; those are filled in over time. Rows of the log have the hash
-- of their content.
ALTER TABLE device ADD COLUMN checksum BIGINT;
ALTER TABLE alert ADD COLUMN checksum BIGINT;
ALTER TABLE last_location ADD COLUMN checksum BIGINT;
CREATE INDEX device_without_checksum ON device (account_id, id) WHERE checksum IS NULL;
CREATE INDEX alert_without_checksum ON alert (account_id, id) WHERE checksum IS NULL;
CREATE INDEX last_location_without_checksum ON last_location (account_id, device_id) WHERE checksum IS NULL;

-- Rows that could not be read, as they were found. Without references: what they say may be wrong.
CREATE TABLE quarantine (
    id           BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    found_at     BIGINT NOT NULL,
    -- The table it was in.
    source       TEXT   NOT NULL,
    account_id   BIGINT,
    -- Null when the row is of several devices.
    device_id    BIGINT,
    first_number BIGINT,
    last_number  BIGINT,
    first_time   BIGINT,
    last_time    BIGINT,
    -- Locations in it.
    count        BIGINT,
    reason       TEXT   NOT NULL,
    -- Its packed bytes, or its columns as JSON.
    data         BYTEA  NOT NULL
);
CREATE INDEX quarantine_by_device ON quarantine (account_id, device_id);

CREATE TABLE readiness (
    id     BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     BIGINT NOT NULL,
    filler BYTEA  NOT NULL
);
