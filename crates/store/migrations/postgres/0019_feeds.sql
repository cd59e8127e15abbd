-- Steps of emergencies, health of gateways, and pollers.

-- The gateway of an account that a message came by, whose settings are needed to decode it again.
ALTER TABLE raw_message ADD COLUMN gateway_id BIGINT;

-- Whether the service fetches the messages of a gateway.
ALTER TABLE gateway ADD COLUMN polled BOOLEAN NOT NULL DEFAULT FALSE;

-- Steps of emergencies as devices sent them, each once, and the alert that they were counted to. Kept for a month.
CREATE TABLE emergency_step (
    account_id BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    time       BIGINT NOT NULL,
    kind       TEXT    NOT NULL,
    alert_id   BIGINT,
    PRIMARY KEY (account_id, device_id, time, kind),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

-- What is known of the messages of gateways, and how far pollers are. Written every few seconds, not with each message.
CREATE TABLE gateway_state (
    account_id    BIGINT NOT NULL,
    gateway_id    BIGINT NOT NULL,
    last_message  BIGINT,
    -- Messages by hour, and silences between messages, in forms of their own.
    hours         BYTEA,
    rhythm        BYTEA,
    errors        BIGINT NOT NULL DEFAULT 0,
    last_error    TEXT,
    last_error_at BIGINT,
    refused       BIGINT NOT NULL DEFAULT 0,
    refused_at    BIGINT,
    -- When it is late if nothing comes; null while that is not known, or when it was announced.
    late_at       BIGINT,
    late_since    BIGINT,
    -- Of polled feeds: where to continue, when, and who is at it.
    cursor        TEXT    NOT NULL DEFAULT '',
    complete_to   BIGINT,
    next_poll     BIGINT,
    failures      BIGINT NOT NULL DEFAULT 0,
    lease_until   BIGINT,
    fence         BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, gateway_id),
    FOREIGN KEY (account_id, gateway_id) REFERENCES gateway (account_id, id) ON DELETE CASCADE
);
CREATE INDEX gateway_state_by_poll ON gateway_state (next_poll) WHERE next_poll IS NOT NULL;
CREATE INDEX gateway_state_by_late ON gateway_state (late_at) WHERE late_at IS NOT NULL;

INSERT INTO gateway_state (account_id, gateway_id) SELECT account_id, id FROM gateway;
