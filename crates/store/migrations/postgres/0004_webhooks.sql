-- Webhooks, their deliveries and how far each has read the events.

CREATE TABLE webhook (
    account_id      BIGINT  NOT NULL REFERENCES account (id),
    id              BIGINT  NOT NULL,
    revision        BIGINT  NOT NULL,
    name            TEXT,
    url             TEXT    NOT NULL,
    -- Which events, as JSON.
    wanted          TEXT    NOT NULL,
    enabled         BOOLEAN NOT NULL,
    -- The key that signs, and the one before it for as long as it signs too.
    secret          BYTEA   NOT NULL,
    previous_secret BYTEA,
    previous_until  BIGINT,
    -- Up to which number of the log events were taken for it.
    read_to         BIGINT  NOT NULL,
    -- Until when its receiver asked for rest.
    held_until      BIGINT,
    -- When and why the service switched it off.
    disabled_at     BIGINT,
    disabled_reason TEXT,
    -- The latest part of the log that was gone before it was read.
    gap_at          BIGINT,
    gap_from        BIGINT,
    gap_to          BIGINT,
    created_by      BIGINT,
    creation        BIGINT  NOT NULL,
    last_modified   BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE TABLE webhook_delivery (
    account_id  BIGINT  NOT NULL,
    webhook_id  BIGINT  NOT NULL,
    id          BIGINT  NOT NULL,
    -- The name of the message, the same on every attempt.
    message     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    device_id   BIGINT,
    body        TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    attempts    BIGINT  NOT NULL DEFAULT 0,
    -- Counts how often it was lent to a worker; only the last one may settle it.
    fence       BIGINT  NOT NULL DEFAULT 0,
    -- When it may be lent; while it is lent, when the loan ends.
    next_at     BIGINT  NOT NULL,
    expires     BIGINT  NOT NULL,
    last_at     BIGINT,
    last_status BIGINT,
    last_error  TEXT,
    creation    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, webhook_id, id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhook (account_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (account_id, webhook_id, next_at)
    WHERE state = 'waiting';
CREATE INDEX webhook_delivery_by_end ON webhook_delivery (expires) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (creation);
