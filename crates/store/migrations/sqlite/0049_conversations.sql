-- Conversations: the texts between devices and users, and the queue of those that providers deliver.

CREATE TABLE conversation_message (
    account_id  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    device_id   INTEGER NOT NULL,
    direction   TEXT   NOT NULL CHECK (direction IN ('in', 'out')),
    kind        TEXT   NOT NULL CHECK (kind IN ('text', 'locationRequest')),
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
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, digest),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX conversation_message_by_device ON conversation_message (account_id, device_id, id);
CREATE INDEX conversation_message_by_command ON conversation_message (account_id, command_id)
    WHERE command_id IS NOT NULL;
CREATE INDEX conversation_message_due ON conversation_message (due)
    WHERE gateway_id IS NOT NULL AND state IN ('queued', 'sending');
CREATE INDEX conversation_message_billed ON conversation_message (account_id, received_at)
    WHERE billed;

CREATE TABLE conversation (
    account_id     INTEGER NOT NULL,
    device_id      INTEGER NOT NULL,
    -- How many texts of the device have ever arrived.
    received_count INTEGER NOT NULL,
    newest_id      INTEGER NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE conversation_read (
    account_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    -- How many texts of the device the user has read.
    read_count INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
