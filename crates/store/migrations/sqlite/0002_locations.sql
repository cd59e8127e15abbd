-- Locations: a log in arrival order, from which they move into packed chunks of a device in the order of time.
-- Events of locations are told from the log, whose numbers are drawn from those of events.

-- What changes with every message, apart from what clients set. Locations of the device up to the number packed_to
-- are in chunks; up to observed_to they are accounted for here and in last_location, which are written some time after
-- the log.
CREATE TABLE device_live (
    account_id  INTEGER NOT NULL,
    device_id   INTEGER NOT NULL,
    last_seen   INTEGER,
    protocol    TEXT,
    -- How often it reports, as learned from when it was heard; empty while nothing is known.
    rhythm      BLOB    NOT NULL DEFAULT x'',
    -- The jump that was not believed, in case the next location confirms it; empty when there is none.
    doubt       BLOB    NOT NULL DEFAULT x'',
    packed_to   INTEGER NOT NULL DEFAULT 0,
    observed_to INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE last_location (
    account_id  INTEGER NOT NULL,
    device_id   INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    time        INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    latitude    INTEGER NOT NULL CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   INTEGER NOT NULL CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    late        INTEGER NOT NULL CHECK (late IN (0, 1)),
    readings    BLOB    NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row for each commit and account: its locations in arrival order, packed, numbered without a gap.
CREATE TABLE location_log (
    last_number  INTEGER NOT NULL PRIMARY KEY,
    first_number INTEGER NOT NULL,
    account_id   INTEGER NOT NULL REFERENCES account (id),
    received_at  INTEGER NOT NULL,
    points       BLOB    NOT NULL
) STRICT;
CREATE INDEX location_log_by_account ON location_log (account_id, last_number);

-- What of the log is erased: the device's locations up to a number that lie between two instants.
CREATE TABLE location_erased (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    up_to      INTEGER NOT NULL,
    from_time  INTEGER NOT NULL,
    to_time    INTEGER NOT NULL,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX location_erased_by_account ON location_erased (account_id, up_to);
CREATE INDEX location_erased_by_device ON location_erased (account_id, device_id);

-- From which number on the log is read when the store is opened.
CREATE TABLE location_replay (
    id     INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL
) STRICT;

-- Rows keep their bytes out of the key's tree, so that looking for a chunk reads none.
CREATE TABLE location_chunk (
    account_id   INTEGER NOT NULL,
    device_id    INTEGER NOT NULL,
    first_time   INTEGER NOT NULL,
    first_number INTEGER NOT NULL,
    last_time    INTEGER NOT NULL,
    last_number  INTEGER NOT NULL,
    count        INTEGER NOT NULL CHECK (count > 0),
    points       BLOB    NOT NULL,
    UNIQUE (account_id, device_id, last_time, last_number),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX location_chunk_by_first ON location_chunk (account_id, device_id, first_time, first_number);

-- Up to which number an account's log was trimmed: the feed does not go back behind it.
CREATE TABLE location_trim (
    account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    number     INTEGER NOT NULL
) STRICT;

-- The counter that events and locations share.
INSERT INTO sqlite_sequence (name, seq)
    SELECT 'event', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'event');
