-- Where alerts go, and every message to a person: to be sent, sent, or not sent and why.

ALTER TABLE alert ADD COLUMN severity INTEGER NOT NULL DEFAULT 1;
CREATE INDEX alert_by_time ON alert (account_id, time, id);

-- Whether the owner was told that the day's messages are used up.
ALTER TABLE device_counter ADD COLUMN emails_told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device_counter ADD COLUMN sms_told INTEGER NOT NULL DEFAULT 0;

CREATE TABLE account_counter (
    account_id   INTEGER NOT NULL REFERENCES account (id),
    date         TEXT    NOT NULL,
    sms_segments INTEGER NOT NULL,
    PRIMARY KEY (account_id, date)
) STRICT, WITHOUT ROWID;

CREATE TABLE account_messaging (
    account_id    INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    revision      INTEGER NOT NULL,
    settings      TEXT    NOT NULL,
    last_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE alert_routing (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    level         TEXT    NOT NULL,
    -- The device, the group or the account itself.
    holder        INTEGER NOT NULL,
    device_id     INTEGER,
    group_id      INTEGER,
    -- Counts on when the document is taken back.
    revision      INTEGER NOT NULL,
    document      TEXT,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, level, holder),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_routing_by_device ON alert_routing (account_id, device_id) WHERE device_id IS NOT NULL;
CREATE INDEX alert_routing_by_group ON alert_routing (account_id, group_id) WHERE group_id IS NOT NULL;

CREATE TABLE notification (
    account_id   INTEGER NOT NULL REFERENCES account (id),
    id           INTEGER NOT NULL,
    device_id    INTEGER,
    alert_id     INTEGER,
    -- The alert's name, the event's the owner is told of, or the report's; the last two count against no device.
    name         TEXT    NOT NULL,
    critical     INTEGER NOT NULL CHECK (critical IN (0, 1)),
    channel      TEXT    NOT NULL,
    address      TEXT    NOT NULL,
    preferences  TEXT    NOT NULL,
    -- What a report says.
    document     TEXT,
    state        TEXT    NOT NULL,
    reason       TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0,
    -- Attempts of which nobody knows what became.
    doubts       INTEGER NOT NULL DEFAULT 0,
    -- Waiting: when it is tried next. Sending: when the attempt is given up for lost. Else null.
    due          INTEGER,
    -- Rises with every reservation.
    token        INTEGER NOT NULL DEFAULT 0,
    counted_on   TEXT,
    segments     INTEGER NOT NULL DEFAULT 0,
    reference    TEXT,
    created      INTEGER NOT NULL,
    -- From when on it is tried; later than created when it was sent again.
    queued_at    INTEGER NOT NULL,
    sent_at      INTEGER,
    delivered_at INTEGER,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_due ON notification (channel, account_id, critical, due) WHERE due IS NOT NULL;
-- When the next is due, over all accounts.
CREATE INDEX notification_by_due ON notification (channel, due) WHERE due IS NOT NULL;
-- What is over, by age.
CREATE INDEX notification_by_age ON notification (created) WHERE due IS NULL;
CREATE INDEX notification_by_state ON notification (account_id, state, id);
CREATE INDEX notification_by_device ON notification (account_id, device_id, id);
CREATE INDEX notification_suppressed ON notification (account_id, device_id, created) WHERE state = 'suppressed';
CREATE INDEX notification_by_alert ON notification (account_id, alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX notification_by_reference ON notification (channel, reference) WHERE reference IS NOT NULL;

-- What one person was told lately of one device, so that it is not told again and again.
CREATE TABLE notification_repetition (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    channel    TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    told_at    INTEGER NOT NULL,
    met_at     INTEGER NOT NULL,
    pause_s    INTEGER NOT NULL,
    PRIMARY KEY (account_id, device_id, channel, address, name),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX notification_repetition_by_age ON notification_repetition (met_at);

-- What messages say where an account does not leave it to the built-in templates.
CREATE TABLE template (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    kind          TEXT    NOT NULL,
    -- Counts on when the account returns to the built-in one.
    revision      INTEGER NOT NULL,
    source        TEXT,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, kind)
) STRICT, WITHOUT ROWID;

-- What owners want to be told of each day or week, and how far they were told.
CREATE TABLE overview (
    account_id    INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    revision      INTEGER NOT NULL,
    settings      TEXT    NOT NULL,
    is_on         INTEGER NOT NULL CHECK (is_on IN (0, 1)),
    -- The last date told of, and the first instant after it.
    told_to       TEXT,
    told_until    INTEGER,
    -- Until when a node is at the next report.
    claimed_until INTEGER,
    last_modified INTEGER NOT NULL
) STRICT;
