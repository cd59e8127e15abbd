-- Browsers in which users are notified (Web Push), and the keys that sign messages to their push services.

CREATE TABLE push_key (
    kid      TEXT   NOT NULL PRIMARY KEY,
    pkcs8    BYTEA   NOT NULL,
    creation BIGINT  NOT NULL,
    -- Null for the key of new subscriptions.
    expires  BIGINT
);

CREATE TABLE push_subscription (
    account_id    BIGINT NOT NULL,
    id            BIGINT NOT NULL,
    user_id       BIGINT NOT NULL,
    -- The session in which the browser was subscribed last; it may have expired.
    session_id    BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    endpoint_hash TEXT NOT NULL,
    -- URL and keys of the browser, as JSON.
    endpoint      TEXT NOT NULL,
    -- The key of this server that the browser accepts; it may have expired.
    key_id        TEXT NOT NULL,
    settings      TEXT NOT NULL,
    creation      BIGINT NOT NULL,
    last_modified BIGINT NOT NULL,
    last_used     BIGINT,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, endpoint_hash),
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
);
CREATE INDEX push_subscription_by_user ON push_subscription (account_id, user_id, id);
