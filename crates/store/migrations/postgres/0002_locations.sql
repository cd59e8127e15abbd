-- Locations: a log in arrival order, from which they move into packed chunks of a device in the order of time.
-- Events of locations are told from the log, whose numbers are drawn from those of events.

-- What changes with every message, apart from what clients set; its pages, and those of last locations, have room to
-- change in place, which touches no index. Locations of the device up to the number packed_to
-- are in chunks; how many above it are not, and since when.
CREATE TABLE device_live (
    account_id     BIGINT  NOT NULL,
    device_id      BIGINT  NOT NULL,
    last_seen      BIGINT  NOT NULL,
    protocol       TEXT,
    -- How often it reports, as learned from when it was heard; empty while nothing is known.
    rhythm         BYTEA   NOT NULL DEFAULT '',
    -- The jump that was not believed, in case the next location confirms it; empty when there is none.
    doubt          BYTEA   NOT NULL DEFAULT '',
    packed_to      BIGINT  NOT NULL DEFAULT 0,
    unpacked       BIGINT  NOT NULL DEFAULT 0,
    unpacked_since BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

CREATE TABLE last_location (
    account_id  BIGINT  NOT NULL,
    device_id   BIGINT  NOT NULL,
    number      BIGINT  NOT NULL,
    time        BIGINT  NOT NULL,
    received_at BIGINT  NOT NULL,
    latitude    INTEGER NOT NULL CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   INTEGER NOT NULL CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    late        BOOLEAN NOT NULL,
    readings    BYTEA   NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- In parts by device, so that each part's indexes are small enough to stay in memory.
-- A row is unique by what it says. That its device exists was seen under the account's lock, which is held until the
-- commit and which whoever deletes the device takes too: a foreign key would look again for every row, at twice the
-- cost of all the rest, so that a trigger does the other half of its work.
CREATE TABLE location_log (
    number      BIGINT  NOT NULL,
    account_id  BIGINT  NOT NULL,
    device_id   BIGINT  NOT NULL,
    time        BIGINT  NOT NULL,
    received_at BIGINT  NOT NULL,
    latitude    INTEGER NOT NULL CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   INTEGER NOT NULL CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    late        BOOLEAN NOT NULL,
    suspect     BOOLEAN NOT NULL,
    hash        BYTEA   NOT NULL,
    readings    BYTEA   NOT NULL,
    PRIMARY KEY (account_id, device_id, time, hash)
) PARTITION BY HASH (device_id);
CREATE INDEX location_log_by_account ON location_log (account_id, number);
CREATE INDEX location_log_by_device ON location_log (account_id, device_id, number);
CREATE TABLE location_log_0 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 0);
CREATE TABLE location_log_1 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 1);
CREATE TABLE location_log_2 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 2);
CREATE TABLE location_log_3 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 3);
CREATE TABLE location_log_4 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 4);
CREATE TABLE location_log_5 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 5);
CREATE TABLE location_log_6 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 6);
CREATE TABLE location_log_7 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 7);
CREATE TABLE location_log_8 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 8);
CREATE TABLE location_log_9 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 9);
CREATE TABLE location_log_10 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 10);
CREATE TABLE location_log_11 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 11);
CREATE TABLE location_log_12 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 12);
CREATE TABLE location_log_13 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 13);
CREATE TABLE location_log_14 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 14);
CREATE TABLE location_log_15 PARTITION OF location_log FOR VALUES WITH (MODULUS 16, REMAINDER 15);

CREATE FUNCTION forget_location_log() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM location_log WHERE account_id = OLD.account_id AND device_id = OLD.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER device_forget_location_log AFTER DELETE ON device
    FOR EACH ROW EXECUTE FUNCTION forget_location_log();

CREATE TABLE location_chunk (
    account_id   BIGINT  NOT NULL,
    device_id    BIGINT  NOT NULL,
    first_time   BIGINT  NOT NULL,
    first_number BIGINT  NOT NULL,
    last_time    BIGINT  NOT NULL,
    last_number  BIGINT  NOT NULL,
    count        BIGINT  NOT NULL CHECK (count > 0),
    points       BYTEA   NOT NULL,
    PRIMARY KEY (account_id, device_id, last_time, last_number),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX location_chunk_by_first ON location_chunk (account_id, device_id, first_time, first_number);

-- Up to which number an account's log was trimmed: the feed does not go back behind it.
CREATE TABLE location_trim (
    account_id BIGINT  NOT NULL PRIMARY KEY REFERENCES account (id),
    number     BIGINT  NOT NULL
);
