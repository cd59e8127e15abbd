-- Browsers in which users are notified (Web Push), and the keys that sign messages to their push services.

CREATE TABLE push_key (
    kid      TEXT   NOT NULL PRIMARY KEY,
    pkcs8    BLOB     NOT NULL,
    creation INTEGER  NOT NULL,
    -- Null for the key of new subscriptions.
    expires  INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE push_subscription (
    account_id    INTEGER NOT NULL,
    id            INTEGER NOT NULL,
    user_id       INTEGER NOT NULL,
    -- The session in which the browser was subscribed last; it may have expired.
    session_id    INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    endpoint_hash TEXT NOT NULL,
    -- URL and keys of the browser, as JSON.
    endpoint      TEXT NOT NULL,
    -- The key of this server that the browser accepts; it may have expired.
    key_id        TEXT NOT NULL,
    settings      TEXT NOT NULL,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    last_used     INTEGER,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, endpoint_hash),
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX push_subscription_by_user ON push_subscription (account_id, user_id, id);
