-- Gateways of accounts: addresses to which satellite networks and phones send messages.

CREATE TABLE gateway (
    account_id  INTEGER NOT NULL REFERENCES account (id),
    id          INTEGER NOT NULL,
    feed        TEXT    NOT NULL,
    name        TEXT,
    -- The device of all its messages; null when they name their devices.
    device_id   INTEGER,
    -- Settings of the feed, a JSON object.
    options     TEXT    NOT NULL,
    secret_hash BLOB    NOT NULL UNIQUE,
    created_by  INTEGER,
    creation    INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
