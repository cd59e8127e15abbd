-- Who is told of alerts: groups of contacts, escalations, notes and acknowledgements by people, watch lists of users.

CREATE TABLE contact_group (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    -- Name and contacts, as JSON.
    settings      TEXT    NOT NULL,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- Critical alerts that nobody has acknowledged, each with the steps that follow. A row is deleted with its last step, or
-- when a user acknowledges or ends the alert.
CREATE TABLE escalation (
    account_id INTEGER NOT NULL,
    alert_id   INTEGER NOT NULL,
    -- Several routings of an alert have each their own steps.
    plan       INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    started    INTEGER NOT NULL,
    -- The next step, from 0, and when it is due.
    turn       INTEGER NOT NULL,
    due        INTEGER NOT NULL,
    PRIMARY KEY (account_id, alert_id, plan),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX escalation_by_due ON escalation (due);
CREATE INDEX escalation_by_device ON escalation (account_id, device_id);

-- The step of an escalation that a message belongs to, from 1; 0 for the messages of the alert itself.
ALTER TABLE notification ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
-- Whether it is the first of a critical alert, which no cap on e-mail holds back.
ALTER TABLE notification ADD COLUMN first_critical INTEGER NOT NULL DEFAULT 0;

-- What people wrote about an alert, by the console or by the link in a message.
CREATE TABLE alert_note (
    account_id   INTEGER NOT NULL,
    id           INTEGER NOT NULL,
    alert_id     INTEGER NOT NULL,
    -- Null for people without an account.
    user_id      INTEGER,
    name         TEXT    NOT NULL,
    text         TEXT,
    acknowledges INTEGER NOT NULL CHECK (acknowledges IN (0, 1)),
    created      INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, alert_id) REFERENCES alert (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_note_by_alert ON alert_note (account_id, alert_id, id);

CREATE TABLE watch_list (
    account_id    INTEGER NOT NULL,
    user_id       INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    document      TEXT    NOT NULL,
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id),
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
