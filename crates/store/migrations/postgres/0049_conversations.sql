-- Conversations: the texts between devices and users, and the queue of those that providers deliver.

CREATE TABLE conversation_message (
    account_id  BIGINT NOT NULL,
    id          BIGINT NOT NULL,
    device_id   BIGINT NOT NULL,
    direction   TEXT   NOT NULL CHECK (direction IN ('in', 'out')),
    kind        TEXT   NOT NULL CHECK (kind IN ('text', 'locationRequest')),
    body        TEXT   NOT NULL,
    time        BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    latitude    BIGINT CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude   BIGINT CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    link        TEXT,
    -- SHA-256 of what makes a text of a device the same when it is sent again; NULL if nothing does.
    digest      BYTEA,
    -- Counts the texts of the device from 1; of a message to the device, how many there were before it.
    ordinal     BIGINT NOT NULL,
    created_by  BIGINT,
    state       TEXT   NOT NULL CHECK (state IN ('received', 'queued', 'sending', 'handedOver', 'delivered', 'answered',
                                               'failed', 'unclear', 'expired', 'cancelled')),
    changed_at  BIGINT NOT NULL,
    deadline    BIGINT,
    reference   TEXT,
    error       TEXT,
    -- The command that carries it, or the gateway whose provider does.
    command_id  BIGINT,
    gateway_id  BIGINT,
    address     TEXT,
    billed      BOOLEAN NOT NULL,
    attempts    BIGINT NOT NULL DEFAULT 0,
    -- Of a queued message, when it is sent; of one that is being sent, the end of the lease.
    due         BIGINT,
    fence       BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, digest),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX conversation_message_by_device ON conversation_message (account_id, device_id, id);
CREATE INDEX conversation_message_by_command ON conversation_message (account_id, command_id)
    WHERE command_id IS NOT NULL;
CREATE INDEX conversation_message_due ON conversation_message (due)
    WHERE gateway_id IS NOT NULL AND state IN ('queued', 'sending');
CREATE INDEX conversation_message_billed ON conversation_message (account_id, received_at)
    WHERE billed;

CREATE TABLE conversation (
    account_id     BIGINT NOT NULL,
    device_id      BIGINT NOT NULL,
    -- How many texts of the device have ever arrived.
    received_count BIGINT NOT NULL,
    newest_id      BIGINT NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

CREATE TABLE conversation_read (
    account_id BIGINT NOT NULL,
    user_id    BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    -- How many texts of the device the user has read.
    read_count BIGINT NOT NULL,
    PRIMARY KEY (account_id, user_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
);
