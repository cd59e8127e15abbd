-- Webhooks, their deliveries and how far each has read the events.

CREATE TABLE webhook (
    account_id      INTEGER NOT NULL REFERENCES account (id),
    id              INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    name            TEXT,
    url             TEXT    NOT NULL,
    -- Which events, as JSON.
    wanted          TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- The key that signs, and the one before it for as long as it signs too.
    secret          BLOB    NOT NULL,
    previous_secret BLOB,
    previous_until  INTEGER,
    -- Up to which number of the log events were taken for it.
    read_to         INTEGER NOT NULL,
    -- Until when its receiver asked for rest.
    held_until      INTEGER,
    -- When and why the service switched it off.
    disabled_at     INTEGER,
    disabled_reason TEXT,
    -- The latest part of the log that was gone before it was read.
    gap_at          INTEGER,
    gap_from        INTEGER,
    gap_to          INTEGER,
    created_by      INTEGER,
    creation        INTEGER NOT NULL,
    last_modified   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_delivery (
    account_id  INTEGER NOT NULL,
    webhook_id  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    -- The name of the message, the same on every attempt.
    message     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    device_id   INTEGER,
    body        TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    -- Counts how often it was lent to a worker; only the last one may settle it.
    fence       INTEGER NOT NULL DEFAULT 0,
    -- When it may be lent; while it is lent, when the loan ends.
    next_at     INTEGER NOT NULL,
    expires     INTEGER NOT NULL,
    last_at     INTEGER,
    last_status INTEGER,
    last_error  TEXT,
    creation    INTEGER NOT NULL,
    PRIMARY KEY (account_id, webhook_id, id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhook (account_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (account_id, webhook_id, next_at)
    WHERE state = 'waiting';
CREATE INDEX webhook_delivery_by_end ON webhook_delivery (expires) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (creation);
