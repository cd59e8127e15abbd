-- Steps of emergencies, health of gateways, and pollers.

-- The gateway of an account that a message came by, whose settings are needed to decode it again.
ALTER TABLE raw_message ADD COLUMN gateway_id INTEGER;

-- Whether the service fetches the messages of a gateway.
ALTER TABLE gateway ADD COLUMN polled INTEGER NOT NULL DEFAULT 0 CHECK (polled IN (0, 1));

-- Steps of emergencies as devices sent them, each once, and the alert that they were counted to. Kept for a month.
CREATE TABLE emergency_step (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    time       INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    alert_id   INTEGER,
    PRIMARY KEY (account_id, device_id, time, kind),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What is known of the messages of gateways, and how far pollers are. Written every few seconds, not with each message.
CREATE TABLE gateway_state (
    account_id    INTEGER NOT NULL,
    gateway_id    INTEGER NOT NULL,
    last_message  INTEGER,
    -- Messages by hour, and silences between messages, in forms of their own.
    hours         BLOB,
    rhythm        BLOB,
    errors        INTEGER NOT NULL DEFAULT 0,
    last_error    TEXT,
    last_error_at INTEGER,
    refused       INTEGER NOT NULL DEFAULT 0,
    refused_at    INTEGER,
    -- When it is late if nothing comes; null while that is not known, or when it was announced.
    late_at       INTEGER,
    late_since    INTEGER,
    -- Of polled feeds: where to continue, when, and who is at it.
    cursor        TEXT    NOT NULL DEFAULT '',
    complete_to   INTEGER,
    next_poll     INTEGER,
    failures      INTEGER NOT NULL DEFAULT 0,
    lease_until   INTEGER,
    fence         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, gateway_id),
    FOREIGN KEY (account_id, gateway_id) REFERENCES gateway (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX gateway_state_by_poll ON gateway_state (next_poll) WHERE next_poll IS NOT NULL;
CREATE INDEX gateway_state_by_late ON gateway_state (late_at) WHERE late_at IS NOT NULL;

INSERT INTO gateway_state (account_id, gateway_id) SELECT account_id, id FROM gateway;
