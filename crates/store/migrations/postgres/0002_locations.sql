-- Locations: a log in arrival order, from which they move into packed chunks of a device in the order of time.
-- Events of locations are told from the log, whose numbers are drawn from those of events.

-- What changes with every message, apart from what clients set. Locations of the device up to the number packed_to
-- are in chunks; how many above it are not, and since when.
CREATE TABLE device_live (
    account_id     BIGINT  NOT NULL,
    device_id      BIGINT  NOT NULL,
    last_seen      BIGINT  NOT NULL,
    protocol       TEXT,
    packed_to      BIGINT  NOT NULL DEFAULT 0,
    unpacked       BIGINT  NOT NULL DEFAULT 0,
    unpacked_since BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

CREATE TABLE last_location (
    account_id  BIGINT  NOT NULL,
    device_id   BIGINT  NOT NULL,
    number      BIGINT  NOT NULL,
    time        BIGINT  NOT NULL,
    received_at BIGINT  NOT NULL,
    latitude    BIGINT  NOT NULL CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   BIGINT  NOT NULL CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    late        BOOLEAN NOT NULL,
    readings    BYTEA   NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

CREATE TABLE location_log (
    number      BIGINT  NOT NULL,
    account_id  BIGINT  NOT NULL,
    device_id   BIGINT  NOT NULL,
    time        BIGINT  NOT NULL,
    hash        BYTEA   NOT NULL,
    received_at BIGINT  NOT NULL,
    latitude    BIGINT  NOT NULL CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   BIGINT  NOT NULL CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    late        BOOLEAN NOT NULL,
    suspect     BOOLEAN NOT NULL,
    readings    BYTEA   NOT NULL,
    PRIMARY KEY (account_id, device_id, time, hash),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX location_log_by_account ON location_log (account_id, number);
CREATE INDEX location_log_by_device ON location_log (account_id, device_id, number);

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
