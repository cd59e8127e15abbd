-- Timelines: trips, stops and gaps of each device, and how far they are derived from the log of locations.

-- How far an account's log was read, in how many rounds, and which node goes on with it until when. While the histories of
-- existing devices are queued in place of a trimmed log: up to which device, and where in the log reading goes on then.
-- The last number that a changed segment got.
CREATE TABLE timeline_follower (
    account_id    INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    cursor        INTEGER NOT NULL DEFAULT 0,
    round         INTEGER NOT NULL DEFAULT 0,
    owner         TEXT   NOT NULL DEFAULT '',
    leased_until  INTEGER NOT NULL DEFAULT 0,
    caught_up_to  INTEGER,
    caught_up_end INTEGER,
    change_number INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The fix times from the first to the last location that the timeline of a device does not consider yet; null if there is
-- none. Each further one counts in marks. Quiet: no events are written for what is derived.
CREATE TABLE timeline_device (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    dirty_from INTEGER,
    dirty_to   INTEGER,
    marks      INTEGER NOT NULL DEFAULT 0,
    quiet      INTEGER NOT NULL DEFAULT 0 CHECK (quiet IN (0, 1)),
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX timeline_device_by_dirty ON timeline_device (account_id, device_id) WHERE dirty_from IS NOT NULL;

-- Instants from which a derivation can go on without what was before.
CREATE TABLE timeline_anchor (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    settled    INTEGER NOT NULL,
    state      TEXT   NOT NULL,
    PRIMARY KEY (account_id, device_id, at),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Segments. The last one of a device is open. Name, purpose, note and driver are set by people.
CREATE TABLE timeline_segment (
    account_id      INTEGER NOT NULL,
    device_id       INTEGER NOT NULL,
    id              INTEGER NOT NULL,
    kind            TEXT    NOT NULL,
    from_at         INTEGER NOT NULL,
    to_at           INTEGER NOT NULL,
    is_open         INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    start_latitude  INTEGER NOT NULL,
    start_longitude INTEGER NOT NULL,
    end_latitude    INTEGER NOT NULL,
    end_longitude   INTEGER NOT NULL,
    distance_m      INTEGER NOT NULL,
    distance_source TEXT    NOT NULL,
    moving_s        INTEGER NOT NULL,
    standing_s      INTEGER NOT NULL,
    idling_s        INTEGER NOT NULL,
    engine_s        INTEGER,
    max_speed       INTEGER,
    fuel_used       INTEGER,
    driver_tag      TEXT,
    inferred        INTEGER NOT NULL CHECK (inferred IN (0, 1)),
    name            TEXT,
    purpose         TEXT,
    note            TEXT,
    driver          TEXT,
    revision        INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    change_number   INTEGER NOT NULL,
    PRIMARY KEY (account_id, device_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX timeline_segment_by_time ON timeline_segment (account_id, device_id, from_at);
CREATE INDEX timeline_segment_by_id ON timeline_segment (account_id, id);
CREATE INDEX timeline_segment_by_change ON timeline_segment (account_id, change_number);
CREATE INDEX timeline_segment_by_trip ON timeline_segment (account_id, from_at, id) WHERE kind = 'trip';
