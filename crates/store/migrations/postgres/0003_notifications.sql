-- Where alerts go, and every message to a person: to be sent, sent, or not sent and why.

ALTER TABLE alert ADD COLUMN severity BIGINT NOT NULL DEFAULT 1;
CREATE INDEX alert_by_time ON alert (account_id, time, id);

-- Whether the owner was told that the day's messages are used up.
ALTER TABLE device_counter ADD COLUMN emails_told BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE device_counter ADD COLUMN sms_told BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE account_counter (
    account_id   BIGINT  NOT NULL REFERENCES account (id),
    date         TEXT    NOT NULL,
    sms_segments BIGINT  NOT NULL,
    PRIMARY KEY (account_id, date)
);

CREATE TABLE account_messaging (
    account_id    BIGINT  NOT NULL PRIMARY KEY REFERENCES account (id),
    revision      BIGINT  NOT NULL,
    settings      TEXT    NOT NULL,
    last_modified BIGINT  NOT NULL
);

CREATE TABLE alert_routing (
    account_id    BIGINT  NOT NULL REFERENCES account (id),
    level         TEXT    NOT NULL,
    -- The device, the group or the account itself.
    holder        BIGINT  NOT NULL,
    device_id     BIGINT,
    group_id      BIGINT,
    -- Counts on when the document is taken back.
    revision      BIGINT  NOT NULL,
    document      TEXT,
    last_modified BIGINT  NOT NULL,
    PRIMARY KEY (account_id, level, holder),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
);
CREATE INDEX alert_routing_by_device ON alert_routing (account_id, device_id) WHERE device_id IS NOT NULL;
CREATE INDEX alert_routing_by_group ON alert_routing (account_id, group_id) WHERE group_id IS NOT NULL;

CREATE TABLE notification (
    account_id   BIGINT  NOT NULL REFERENCES account (id),
    id           BIGINT  NOT NULL,
    device_id    BIGINT,
    alert_id     BIGINT,
    -- The alert's name, the event's the owner is told of, or the report's; the last two count against no device.
    name         TEXT    NOT NULL,
    critical     BOOLEAN NOT NULL,
    channel      TEXT    NOT NULL,
    address      TEXT    NOT NULL,
    preferences  TEXT    NOT NULL,
    -- What a report says.
    document     TEXT,
    state        TEXT    NOT NULL,
    reason       TEXT,
    attempts     BIGINT  NOT NULL DEFAULT 0,
    -- Attempts of which nobody knows what became.
    doubts       BIGINT  NOT NULL DEFAULT 0,
    -- Waiting: when it is tried next. Sending: when the attempt is given up for lost. Else null.
    due          BIGINT,
    -- Rises with every reservation.
    token        BIGINT  NOT NULL DEFAULT 0,
    counted_on   TEXT,
    segments     BIGINT  NOT NULL DEFAULT 0,
    reference    TEXT,
    created      BIGINT  NOT NULL,
    -- From when on it is tried; later than created when it was sent again.
    queued_at    BIGINT  NOT NULL,
    sent_at      BIGINT,
    delivered_at BIGINT,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
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
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    channel    TEXT    NOT NULL,
    address    TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    told_at    BIGINT  NOT NULL,
    met_at     BIGINT  NOT NULL,
    pause_s    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, device_id, channel, address, name),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX notification_repetition_by_age ON notification_repetition (met_at);

-- What messages say where an account does not leave it to the built-in templates.
CREATE TABLE template (
    account_id    BIGINT  NOT NULL REFERENCES account (id),
    kind          TEXT    NOT NULL,
    -- Counts on when the account returns to the built-in one.
    revision      BIGINT  NOT NULL,
    source        TEXT,
    last_modified BIGINT  NOT NULL,
    PRIMARY KEY (account_id, kind)
);

-- What owners want to be told of each day or week, and how far they were told.
CREATE TABLE overview (
    account_id    BIGINT  NOT NULL PRIMARY KEY REFERENCES account (id),
    revision      BIGINT  NOT NULL,
    settings      TEXT    NOT NULL,
    is_on         BOOLEAN NOT NULL,
    -- The last date told of, and the first instant after it.
    told_to       TEXT,
    told_until    BIGINT,
    -- Until when a node is at the next report.
    claimed_until BIGINT,
    last_modified BIGINT  NOT NULL
);
