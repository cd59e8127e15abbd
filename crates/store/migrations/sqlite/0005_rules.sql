-- Rules, geofences and what each device is known to be doing.

-- What a user who sees one group or device alone has made belongs there: others of that sight see it too.
CREATE TABLE geofence (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    description   TEXT,
    shape         TEXT    NOT NULL,
    search        TEXT    NOT NULL,
    group_id      INTEGER,
    device_id     INTEGER,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- What it judges by is at this generation since an instant.
CREATE TABLE rule (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    generation    INTEGER NOT NULL,
    since         INTEGER NOT NULL,
    all_devices   INTEGER NOT NULL CHECK (all_devices IN (0, 1)),
    settings      TEXT    NOT NULL,
    search        TEXT    NOT NULL,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_device (
    account_id INTEGER NOT NULL,
    rule_id    INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    PRIMARY KEY (account_id, rule_id, device_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_device_by_device ON rule_device (account_id, device_id);

CREATE TABLE rule_group (
    account_id INTEGER NOT NULL,
    rule_id    INTEGER NOT NULL,
    group_id   INTEGER NOT NULL,
    PRIMARY KEY (account_id, rule_id, group_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_group_by_group ON rule_group (account_id, group_id);

-- A geofence that a rule looks at cannot go.
CREATE TABLE rule_fence (
    account_id  INTEGER NOT NULL,
    rule_id     INTEGER NOT NULL,
    geofence_id INTEGER NOT NULL,
    PRIMARY KEY (account_id, rule_id, geofence_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, geofence_id) REFERENCES geofence (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_fence_by_fence ON rule_fence (account_id, geofence_id);

-- Up to which number the log of locations was judged, in how many rounds, by which revision of all rules together, and
-- which node goes on with it until when. Where the log was trimmed before: up to which device histories were judged in
-- its place, and up to which number.
CREATE TABLE rule_follower (
    account_id     INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    cursor         INTEGER NOT NULL DEFAULT 0,
    round          INTEGER NOT NULL DEFAULT 0,
    rules_revision INTEGER NOT NULL DEFAULT 0,
    owner          TEXT    NOT NULL DEFAULT '',
    leased_until   INTEGER NOT NULL DEFAULT 0,
    caught_up_to   INTEGER,
    caught_up_end  INTEGER
) STRICT, WITHOUT ROWID;

-- What the rules know of a device now, when one of them will hold unless a location comes, and what they knew before.
CREATE TABLE rule_trail (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    due        INTEGER,
    snapshot   TEXT    NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_trail_by_due ON rule_trail (due) WHERE due IS NOT NULL;

CREATE TABLE rule_checkpoint (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    made       INTEGER NOT NULL,
    snapshot   TEXT    NOT NULL,
    PRIMARY KEY (account_id, device_id, at),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Episodes of which an alert was raised. One that turned out to be none is withdrawn; its alert stays.
CREATE TABLE rule_occurrence (
    account_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    rule_id    INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    alert_id   INTEGER NOT NULL,
    begins     INTEGER NOT NULL,
    met        INTEGER NOT NULL,
    ends       INTEGER,
    withdrawn  INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1)),
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_occurrence_by_device ON rule_occurrence (account_id, device_id, rule_id);
CREATE INDEX rule_occurrence_by_rule ON rule_occurrence (account_id, rule_id) WHERE ends IS NULL;

-- How a device that was heard stood when its status was last told, and when to look again.
CREATE TABLE device_watch (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    due        INTEGER NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX device_watch_by_due ON device_watch (due);
