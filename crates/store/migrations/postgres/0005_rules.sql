-- Rules, geofences and what each device is known to be doing.

-- What a user who sees one group or device alone has made belongs there: others of that sight see it too.
CREATE TABLE geofence (
    account_id    BIGINT  NOT NULL REFERENCES account (id),
    id            BIGINT  NOT NULL,
    revision      BIGINT  NOT NULL,
    name          TEXT    NOT NULL,
    description   TEXT,
    shape         TEXT    NOT NULL,
    search        TEXT    NOT NULL,
    group_id      BIGINT,
    device_id     BIGINT,
    creation      BIGINT  NOT NULL,
    last_modified BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- What it judges by is at this generation since an instant.
CREATE TABLE rule (
    account_id    BIGINT  NOT NULL REFERENCES account (id),
    id            BIGINT  NOT NULL,
    revision      BIGINT  NOT NULL,
    generation    BIGINT  NOT NULL,
    since         BIGINT  NOT NULL,
    all_devices   BOOLEAN NOT NULL,
    settings      TEXT    NOT NULL,
    search        TEXT    NOT NULL,
    creation      BIGINT  NOT NULL,
    last_modified BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE TABLE rule_device (
    account_id BIGINT  NOT NULL,
    rule_id    BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    PRIMARY KEY (account_id, rule_id, device_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_device_by_device ON rule_device (account_id, device_id);

CREATE TABLE rule_group (
    account_id BIGINT  NOT NULL,
    rule_id    BIGINT  NOT NULL,
    group_id   BIGINT  NOT NULL,
    PRIMARY KEY (account_id, rule_id, group_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_group_by_group ON rule_group (account_id, group_id);

-- A geofence that a rule looks at cannot go.
CREATE TABLE rule_fence (
    account_id  BIGINT  NOT NULL,
    rule_id     BIGINT  NOT NULL,
    geofence_id BIGINT  NOT NULL,
    PRIMARY KEY (account_id, rule_id, geofence_id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, geofence_id) REFERENCES geofence (account_id, id)
);
CREATE INDEX rule_fence_by_fence ON rule_fence (account_id, geofence_id);

-- Up to which number the log of locations was judged, in how many rounds, by which revision of all rules together, and
-- which node goes on with it until when. Where the log was trimmed before: up to which device histories were judged in
-- its place, and up to which number.
CREATE TABLE rule_follower (
    account_id     BIGINT  NOT NULL PRIMARY KEY REFERENCES account (id),
    cursor         BIGINT  NOT NULL DEFAULT 0,
    round          BIGINT  NOT NULL DEFAULT 0,
    rules_revision BIGINT  NOT NULL DEFAULT 0,
    owner          TEXT    NOT NULL DEFAULT '',
    leased_until   BIGINT  NOT NULL DEFAULT 0,
    caught_up_to   BIGINT,
    caught_up_end  BIGINT
);

-- What the rules know of a device now, when one of them will hold unless a location comes, and what they knew before.
CREATE TABLE rule_trail (
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    due        BIGINT,
    snapshot   TEXT    NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_trail_by_due ON rule_trail (due) WHERE due IS NOT NULL;

CREATE TABLE rule_checkpoint (
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    at         BIGINT  NOT NULL,
    made       BIGINT  NOT NULL,
    snapshot   TEXT    NOT NULL,
    PRIMARY KEY (account_id, device_id, at),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

-- Episodes of which an alert was raised. One that turned out to be none is withdrawn; its alert stays.
CREATE TABLE rule_occurrence (
    account_id BIGINT  NOT NULL,
    id         BIGINT  NOT NULL,
    rule_id    BIGINT  NOT NULL,
    generation BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    alert_id   BIGINT  NOT NULL,
    begins     BIGINT  NOT NULL,
    met        BIGINT  NOT NULL,
    ends       BIGINT,
    withdrawn  BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, rule_id) REFERENCES rule (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX rule_occurrence_by_device ON rule_occurrence (account_id, device_id, rule_id);
CREATE INDEX rule_occurrence_by_rule ON rule_occurrence (account_id, rule_id) WHERE ends IS NULL;

-- How a device that was heard stood when its status was last told, and when to look again.
CREATE TABLE device_watch (
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    status     TEXT    NOT NULL,
    due        BIGINT  NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX device_watch_by_due ON device_watch (due);
