-- Gateways of accounts: addresses to which satellite networks and phones send messages.

CREATE TABLE gateway (
    account_id  BIGINT  NOT NULL REFERENCES account (id),
    id          BIGINT  NOT NULL,
    feed        TEXT    NOT NULL,
    name        TEXT,
    -- The device of all its messages; null when they name their devices.
    device_id   BIGINT,
    -- Settings of the feed, a JSON object.
    options     TEXT    NOT NULL,
    secret_hash BYTEA   NOT NULL UNIQUE,
    created_by  BIGINT,
    creation    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
