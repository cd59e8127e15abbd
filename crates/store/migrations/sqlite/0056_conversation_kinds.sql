-- Further kinds of messages to devices: tracking intervals, and what is sent in an emergency.

CREATE TABLE conversation_message_new (
    account_id  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    device_id   INTEGER NOT NULL,
    direction   TEXT   NOT NULL CHECK (direction IN ('in', 'out')),
    kind        TEXT   NOT NULL CHECK (kind IN ('text', 'locationRequest', 'trackingInterval',
                                              'emergencyAcknowledge', 'emergencyMessage')),
    body        TEXT   NOT NULL,
    time        INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    latitude    INTEGER CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   INTEGER CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    link        TEXT,
    -- SHA-256 of what makes a text of a device the same when it is sent again; NULL if nothing does.
    digest      BLOB,
    -- Counts the texts of the device from 1; of a message to the device, how many there were before it.
    ordinal     INTEGER NOT NULL,
    created_by  INTEGER,
    state       TEXT   NOT NULL CHECK (state IN ('received', 'queued', 'sending', 'handedOver', 'delivered', 'answered',
                                               'failed', 'unclear', 'expired', 'cancelled')),
    changed_at  INTEGER NOT NULL,
    deadline    INTEGER,
    reference   TEXT,
    error       TEXT,
    -- The command that carries it, or the gateway whose provider does.
    command_id  INTEGER,
    gateway_id  INTEGER,
    address     TEXT,
    billed      INTEGER NOT NULL CHECK (billed IN (0, 1)),
    attempts    INTEGER NOT NULL DEFAULT 0,
    -- Of a queued message, when it is sent; of one that is being sent, the end of the lease.
    due         INTEGER,
    fence       INTEGER NOT NULL DEFAULT 0,
    -- Of a tracking interval, in seconds.
    interval_s  INTEGER,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, digest),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT;
INSERT INTO conversation_message_new (
    account_id, id, device_id, direction, kind, body, time, received_at, latitude, longitude, link, digest, ordinal,
    created_by, state, changed_at, deadline, reference, error, command_id, gateway_id, address, billed, attempts, due, fence
) SELECT
    account_id, id, device_id, direction, kind, body, time, received_at, latitude, longitude, link, digest, ordinal,
    created_by, state, changed_at, deadline, reference, error, command_id, gateway_id, address, billed, attempts, due, fence
FROM conversation_message;
DROP TABLE conversation_message;
ALTER TABLE conversation_message_new RENAME TO conversation_message;
CREATE INDEX conversation_message_by_device ON conversation_message (account_id, device_id, id);
CREATE INDEX conversation_message_by_command ON conversation_message (account_id, command_id)
    WHERE command_id IS NOT NULL;
CREATE INDEX conversation_message_due ON conversation_message (due)
    WHERE gateway_id IS NOT NULL AND state IN ('queued', 'sending');
CREATE INDEX conversation_message_billed ON conversation_message (account_id, received_at)
    WHERE billed;
