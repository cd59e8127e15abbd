-- The foundation: accounts, users and what lets them in, devices and groups, alerts, logs.
-- Every tenant's table begins its key with the account. Times are milliseconds since 1970 in UTC.

CREATE TABLE account (
    id                 INTEGER NOT NULL PRIMARY KEY,
    revision           INTEGER NOT NULL,
    name               TEXT    NOT NULL,
    time_zone          TEXT    NOT NULL,
    expiry_notice_days INTEGER NOT NULL,
    -- Null is for ever.
    retention_days     INTEGER,
    licenses           INTEGER NOT NULL CHECK (licenses >= 0),
    -- The day under way when the zone was last changed; it holds until it ends.
    day_date           TEXT,
    day_starts         INTEGER,
    day_ends           INTEGER,
    day_zone           TEXT,
    api_total          INTEGER NOT NULL DEFAULT 0,
    api_today          INTEGER NOT NULL DEFAULT 0,
    api_day_ends       INTEGER NOT NULL DEFAULT 0,
    -- The latest instant a licence was decided at: decisions never use an earlier one.
    decided_at         INTEGER NOT NULL DEFAULT 0,
    -- The date on which a want of licences was last told.
    exhausted_date     TEXT,
    creation           INTEGER NOT NULL,
    last_modified      INTEGER NOT NULL
) STRICT;

-- Where to find a user by id or address: small, and the same on every shard.
CREATE TABLE user_directory (
    user_id      INTEGER NOT NULL PRIMARY KEY,
    account_id   INTEGER NOT NULL REFERENCES account (id),
    email_folded TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE device (
    account_id          INTEGER NOT NULL REFERENCES account (id),
    id                  INTEGER NOT NULL,
    revision            INTEGER NOT NULL,
    identifier          TEXT,
    name                TEXT    NOT NULL,
    description         TEXT,
    min                 TEXT,
    tags                TEXT    NOT NULL,
    icon                TEXT,
    model               TEXT,
    expected_interval_s INTEGER,
    -- Null is as the account has it.
    retention_days      INTEGER,
    expiration_date     TEXT,
    expires             INTEGER,
    licensed            INTEGER NOT NULL CHECK (licensed IN (0, 1)),
    -- The expiry that was announced as near, and as come.
    announced_near      INTEGER,
    announced_expired   INTEGER,
    daily_emails        INTEGER,
    daily_sms           INTEGER,
    critical_reserve    INTEGER NOT NULL,
    search              TEXT    NOT NULL,
    created_by          INTEGER,
    creation            INTEGER NOT NULL,
    last_modified       INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, identifier)
) STRICT, WITHOUT ROWID;
-- Expiries not announced as come.
CREATE INDEX device_by_expiry ON device (expires)
    WHERE expires IS NOT NULL AND (announced_expired IS NULL OR announced_expired <> expires);
CREATE INDEX device_by_license ON device (account_id, licensed, expires);
CREATE INDEX device_by_creator ON device (account_id, created_by) WHERE created_by IS NOT NULL;

CREATE TABLE device_counter (
    account_id   INTEGER NOT NULL,
    device_id    INTEGER NOT NULL,
    date         TEXT    NOT NULL,
    emails_sent  INTEGER NOT NULL DEFAULT 0,
    sms_sent     INTEGER NOT NULL DEFAULT 0,
    sms_segments INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, device_id, date),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE device_group (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    revision      INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    description   TEXT,
    search        TEXT    NOT NULL,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_member (
    account_id INTEGER NOT NULL,
    group_id   INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    PRIMARY KEY (account_id, group_id, device_id),
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX group_member_by_device ON group_member (account_id, device_id);

CREATE TABLE account_user (
    account_id       INTEGER NOT NULL REFERENCES account (id),
    id               INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    name             TEXT    NOT NULL,
    email            TEXT    NOT NULL,
    country          TEXT,
    time_zone        TEXT    NOT NULL,
    description      TEXT,
    message          TEXT,
    disabled         INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    disabled_message TEXT,
    tags             TEXT    NOT NULL,
    privileges       INTEGER NOT NULL,
    group_id         INTEGER,
    device_id        INTEGER,
    admin_devices    INTEGER,
    valid_from       INTEGER,
    expires          INTEGER,
    operator         INTEGER NOT NULL DEFAULT 0 CHECK (operator IN (0, 1)),
    password_hash    TEXT,
    totp_secret      BLOB,
    totp_confirmed   INTEGER NOT NULL DEFAULT 0 CHECK (totp_confirmed IN (0, 1)),
    totp_last_step   INTEGER NOT NULL DEFAULT 0,
    search           TEXT    NOT NULL,
    creation         INTEGER NOT NULL,
    modification     INTEGER NOT NULL,
    last_login       INTEGER,
    PRIMARY KEY (account_id, id),
    -- A scope never widens by deletion: what a user is bound to cannot go.
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_user_by_group ON account_user (account_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX account_user_by_device ON account_user (account_id, device_id) WHERE device_id IS NOT NULL;

CREATE TABLE api_key (
    account_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    hash       BLOB    NOT NULL,
    hint       TEXT    NOT NULL,
    creation   INTEGER NOT NULL,
    last_used  INTEGER,
    PRIMARY KEY (account_id, user_id),
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    hash       BLOB    NOT NULL PRIMARY KEY,
    id         INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    creation   INTEGER NOT NULL,
    expires    INTEGER NOT NULL,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_user ON session (account_id, user_id);
CREATE INDEX session_by_id ON session (id);

CREATE TABLE link (
    hash       BLOB    NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    purpose    TEXT    NOT NULL,
    expires    INTEGER NOT NULL,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX link_by_user ON link (account_id, user_id);

CREATE TABLE signing_key (
    kid      TEXT    NOT NULL PRIMARY KEY,
    pkcs8    BLOB    NOT NULL,
    creation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    account_id INTEGER NOT NULL,
    user_id    INTEGER NOT NULL,
    endpoint   TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    body_hash  BLOB    NOT NULL,
    made       TEXT    NOT NULL,
    creation   INTEGER NOT NULL,
    PRIMARY KEY (account_id, user_id, endpoint, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (creation);

CREATE TABLE alert (
    account_id      INTEGER NOT NULL,
    id              INTEGER NOT NULL,
    device_id       INTEGER NOT NULL,
    time            INTEGER NOT NULL,
    hash            BLOB    NOT NULL,
    name            TEXT    NOT NULL,
    text            TEXT,
    critical        INTEGER NOT NULL CHECK (critical IN (0, 1)),
    latitude        INTEGER CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude       INTEGER CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    attributes      BLOB    NOT NULL,
    received_at     INTEGER NOT NULL,
    acknowledged_at INTEGER,
    acknowledged_by INTEGER,
    ended_at        INTEGER,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, time, hash),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE share (
    account_id  INTEGER NOT NULL REFERENCES account (id),
    id          INTEGER NOT NULL,
    device_id   INTEGER,
    group_id    INTEGER,
    name        TEXT,
    starts      INTEGER NOT NULL,
    ends        INTEGER NOT NULL,
    secret      TEXT    NOT NULL UNIQUE,
    views       INTEGER NOT NULL DEFAULT 0,
    last_viewed INTEGER,
    created_by  INTEGER,
    creation    INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((device_id IS NULL) <> (group_id IS NULL)),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
    number     INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES account (id),
    at         INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    device_id  INTEGER,
    data       TEXT    NOT NULL
) STRICT;
CREATE INDEX event_by_account ON event (account_id, number);

-- Up to which number an account's events were trimmed: nobody reads on from behind it.
CREATE TABLE event_trim (
    account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    number     INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (
    account_id INTEGER NOT NULL REFERENCES account (id),
    id         INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    via        TEXT    NOT NULL,
    user_id    INTEGER,
    address    TEXT,
    request    TEXT,
    action     TEXT    NOT NULL,
    target     TEXT,
    outcome    TEXT    NOT NULL,
    detail     TEXT,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
