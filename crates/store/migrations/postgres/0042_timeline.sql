-- Timelines: trips, stops and gaps of each device, and how far they are derived from the log of locations.

-- How far an account's log was read, in how many rounds, and which node goes on with it until when. While the histories of
-- existing devices are queued in place of a trimmed log: up to which device, and where in the log reading goes on then.
-- The last number that a changed segment got.
CREATE TABLE timeline_follower (
    account_id    BIGINT NOT NULL PRIMARY KEY REFERENCES account (id),
    cursor        BIGINT NOT NULL DEFAULT 0,
    round         BIGINT NOT NULL DEFAULT 0,
    owner         TEXT   NOT NULL DEFAULT '',
    leased_until  BIGINT NOT NULL DEFAULT 0,
    caught_up_to  BIGINT,
    caught_up_end BIGINT,
    change_number BIGINT NOT NULL DEFAULT 0
);

-- The fix times from the first to the last location that the timeline of a device does not consider yet; null if there is
-- none. Each further one counts in marks. Quiet: no events are written for what is derived.
CREATE TABLE timeline_device (
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    dirty_from BIGINT,
    dirty_to   BIGINT,
    marks      BIGINT  NOT NULL DEFAULT 0,
    quiet      BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX timeline_device_by_dirty ON timeline_device (account_id, device_id) WHERE dirty_from IS NOT NULL;

-- Instants from which a derivation can go on without what was before.
CREATE TABLE timeline_anchor (
    account_id BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    settled    BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    PRIMARY KEY (account_id, device_id, at),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

-- Segments. The last one of a device is open. Name, purpose, note and driver are set by people.
CREATE TABLE timeline_segment (
    account_id      BIGINT  NOT NULL,
    device_id       BIGINT  NOT NULL,
    id              BIGINT  NOT NULL,
    kind            TEXT    NOT NULL,
    from_at         BIGINT  NOT NULL,
    to_at           BIGINT  NOT NULL,
    is_open         BOOLEAN NOT NULL,
    start_latitude  BIGINT  NOT NULL,
    start_longitude BIGINT  NOT NULL,
    end_latitude    BIGINT  NOT NULL,
    end_longitude   BIGINT  NOT NULL,
    distance_m      BIGINT  NOT NULL,
    distance_source TEXT    NOT NULL,
    moving_s        BIGINT  NOT NULL,
    standing_s      BIGINT  NOT NULL,
    idling_s        BIGINT  NOT NULL,
    engine_s        BIGINT,
    max_speed       BIGINT,
    fuel_used       BIGINT,
    driver_tag      TEXT,
    inferred        BOOLEAN NOT NULL,
    name            TEXT,
    purpose         TEXT,
    note            TEXT,
    driver          TEXT,
    revision        BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL,
    change_number   BIGINT  NOT NULL,
    PRIMARY KEY (account_id, device_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX timeline_segment_by_time ON timeline_segment (account_id, device_id, from_at);
CREATE INDEX timeline_segment_by_id ON timeline_segment (account_id, id);
CREATE INDEX timeline_segment_by_change ON timeline_segment (account_id, change_number);
CREATE INDEX timeline_segment_by_trip ON timeline_segment (account_id, from_at, id) WHERE kind = 'trip';
