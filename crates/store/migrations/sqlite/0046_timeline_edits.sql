-- Corrections of timelines, settings of timelines at each level, and trips that are none any more.

-- Trips that people divided (at from_at) or joined (those before from_at and after to_at). An input of each derivation.
CREATE TABLE timeline_edit (
    account_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    kind       TEXT   NOT NULL,
    from_at    INTEGER NOT NULL,
    to_at      INTEGER NOT NULL,
    user_id    INTEGER,
    created    INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX timeline_edit_by_device ON timeline_edit (account_id, device_id, from_at);

-- What a device, a group or the account sets, as JSON.
CREATE TABLE timeline_settings (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    level         TEXT   NOT NULL,
    -- The device, the group or the account itself.
    holder        INTEGER NOT NULL,
    device_id     INTEGER,
    group_id      INTEGER,
    revision      INTEGER NOT NULL,
    document      TEXT   NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, level, holder),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX timeline_settings_by_device ON timeline_settings (account_id, device_id) WHERE device_id IS NOT NULL;
CREATE INDEX timeline_settings_by_group ON timeline_settings (account_id, group_id) WHERE group_id IS NOT NULL;

-- The settings that the timeline of a device was derived with, as JSON; null for the defaults.
ALTER TABLE timeline_device ADD COLUMN settings TEXT;

-- Trips that were removed, for clients that follow changes.
CREATE TABLE timeline_removed (
    account_id    INTEGER NOT NULL,
    change_number INTEGER NOT NULL,
    device_id     INTEGER NOT NULL,
    segment_id    INTEGER NOT NULL,
    from_at       INTEGER NOT NULL,
    to_at         INTEGER NOT NULL,
    removed_at    INTEGER NOT NULL,
    PRIMARY KEY (account_id, change_number),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX timeline_removed_by_device ON timeline_removed (account_id, device_id);
CREATE INDEX timeline_removed_by_time ON timeline_removed (account_id, removed_at);
