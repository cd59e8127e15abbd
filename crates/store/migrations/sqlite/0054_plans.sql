-- Plans of voyages, shifts and hikes: their devices, their timelines, travellers' links, and messages to devices that wait.

-- Settings and progress as JSON; the instants from which something waits are columns, so that they follow the clock. Texts of
-- devices up to last_text_id were read. When the plan is examined next: at once after a text or a location, or when a step is due.
CREATE TABLE float_plan (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    settings      TEXT    NOT NULL,
    progress      TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    is_template   INTEGER NOT NULL CHECK (is_template IN (0, 1)),
    base_at       INTEGER,
    not_before    INTEGER,
    paused_until  INTEGER,
    step_at       INTEGER,
    last_text_id  INTEGER NOT NULL,
    evaluate_at   INTEGER,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX float_plan_by_time ON float_plan (evaluate_at, account_id) WHERE evaluate_at IS NOT NULL;

CREATE TABLE float_plan_device (
    account_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    PRIMARY KEY (account_id, plan_id, ordinal),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX float_plan_device_by_device ON float_plan_device (account_id, device_id, plan_id);

CREATE TABLE float_plan_event (
    account_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX float_plan_event_by_plan ON float_plan_event (account_id, plan_id, id);

-- The secret is also in share_directory, by which the account of a link is found.
CREATE TABLE float_plan_link (
    account_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    name       TEXT,
    secret     TEXT    NOT NULL,
    ends       INTEGER,
    last_used  INTEGER,
    creation   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX float_plan_link_by_secret ON float_plan_link (account_id, secret);
CREATE INDEX float_plan_link_by_plan ON float_plan_link (account_id, plan_id, id);

-- Messages that ask a traveller to check in, until they are queued in the conversation of the device.
CREATE TABLE float_plan_nudge (
    account_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    deadline   INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    PRIMARY KEY (account_id, plan_id, device_id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX float_plan_nudge_by_time ON float_plan_nudge (created, account_id);
