-- The foundation: accounts, users and what lets them in, devices and groups, alerts, logs.
-- Every tenant's table begins its key with the account. Times are milliseconds since 1970 in UTC.

CREATE TABLE account (
    id                 BIGINT  NOT NULL PRIMARY KEY,
    revision           BIGINT  NOT NULL,
    name               TEXT    NOT NULL,
    time_zone          TEXT    NOT NULL,
    expiry_notice_days BIGINT  NOT NULL,
    -- Null is for ever.
    retention_days     BIGINT,
    licenses           BIGINT  NOT NULL CHECK (licenses >= 0),
    -- The day under way when the zone was last changed; it holds until it ends.
    day_date           TEXT,
    day_starts         BIGINT,
    day_ends           BIGINT,
    day_zone           TEXT,
    api_total          BIGINT  NOT NULL DEFAULT 0,
    api_today          BIGINT  NOT NULL DEFAULT 0,
    api_day_ends       BIGINT  NOT NULL DEFAULT 0,
    -- The latest instant a licence was decided at: decisions never use an earlier one.
    decided_at         BIGINT  NOT NULL DEFAULT 0,
    -- The date on which a want of licences was last told.
    exhausted_date     TEXT,
    creation           BIGINT  NOT NULL,
    last_modified      BIGINT  NOT NULL
);

-- Where to find a user by id or address: small, and the same on every shard.
CREATE TABLE user_directory (
    user_id      BIGINT  NOT NULL PRIMARY KEY,
    account_id   BIGINT  NOT NULL REFERENCES account (id),
    email_folded TEXT    NOT NULL UNIQUE
);

CREATE TABLE device (
    account_id          BIGINT  NOT NULL REFERENCES account (id),
    id                  BIGINT  NOT NULL,
    revision            BIGINT  NOT NULL,
    identifier          TEXT,
    name                TEXT    NOT NULL,
    description         TEXT,
    min                 TEXT,
    tags                TEXT    NOT NULL,
    icon                TEXT,
    model               TEXT,
    expected_interval_s BIGINT,
    -- Null is as the account has it.
    retention_days      BIGINT,
    expiration_date     TEXT,
    expires             BIGINT,
    licensed            BOOLEAN NOT NULL,
    -- The expiry that was announced as near, and as come.
    announced_near      BIGINT,
    announced_expired   BIGINT,
    daily_emails        BIGINT,
    daily_sms           BIGINT,
    critical_reserve    BIGINT  NOT NULL,
    search              TEXT    NOT NULL,
    created_by          BIGINT,
    creation            BIGINT  NOT NULL,
    last_modified       BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, identifier)
);
-- Expiries not announced as come.
CREATE INDEX device_by_expiry ON device (expires)
    WHERE expires IS NOT NULL AND (announced_expired IS NULL OR announced_expired <> expires);
CREATE INDEX device_by_license ON device (account_id, licensed, expires);
CREATE INDEX device_by_creator ON device (account_id, created_by) WHERE created_by IS NOT NULL;

CREATE TABLE device_counter (
    account_id   BIGINT  NOT NULL,
    device_id    BIGINT  NOT NULL,
    date         TEXT    NOT NULL,
    emails_sent  BIGINT  NOT NULL DEFAULT 0,
    sms_sent     BIGINT  NOT NULL DEFAULT 0,
    sms_segments BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, device_id, date),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

CREATE TABLE device_group (
    account_id    BIGINT  NOT NULL REFERENCES account (id),
    id            BIGINT  NOT NULL,
    revision      BIGINT  NOT NULL,
    name          TEXT    NOT NULL,
    description   TEXT,
    search        TEXT    NOT NULL,
    creation      BIGINT  NOT NULL,
    last_modified BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE TABLE group_member (
    account_id BIGINT  NOT NULL,
    group_id   BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    PRIMARY KEY (account_id, group_id, device_id),
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX group_member_by_device ON group_member (account_id, device_id);

CREATE TABLE account_user (
    account_id       BIGINT  NOT NULL REFERENCES account (id),
    id               BIGINT  NOT NULL,
    revision         BIGINT  NOT NULL,
    name             TEXT    NOT NULL,
    email            TEXT    NOT NULL,
    country          TEXT,
    time_zone        TEXT    NOT NULL,
    description      TEXT,
    message          TEXT,
    disabled         BOOLEAN NOT NULL,
    disabled_message TEXT,
    tags             TEXT    NOT NULL,
    privileges       BIGINT  NOT NULL,
    group_id         BIGINT,
    device_id        BIGINT,
    admin_devices    BIGINT,
    valid_from       BIGINT,
    expires          BIGINT,
    operator         BOOLEAN NOT NULL DEFAULT FALSE,
    password_hash    TEXT,
    totp_secret      BYTEA,
    totp_confirmed   BOOLEAN NOT NULL DEFAULT FALSE,
    totp_last_step   BIGINT  NOT NULL DEFAULT 0,
    search           TEXT    NOT NULL,
    creation         BIGINT  NOT NULL,
    modification     BIGINT  NOT NULL,
    last_login       BIGINT,
    PRIMARY KEY (account_id, id),
    -- A scope never widens by deletion: what a user is bound to cannot go.
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id)
);
CREATE INDEX account_user_by_group ON account_user (account_id, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX account_user_by_device ON account_user (account_id, device_id) WHERE device_id IS NOT NULL;

CREATE TABLE api_key (
    account_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL,
    id         BIGINT  NOT NULL,
    hash       BYTEA   NOT NULL,
    hint       TEXT    NOT NULL,
    creation   BIGINT  NOT NULL,
    last_used  BIGINT,
    PRIMARY KEY (account_id, user_id),
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
);

CREATE TABLE session (
    hash       BYTEA   NOT NULL PRIMARY KEY,
    id         BIGINT  NOT NULL,
    account_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL,
    creation   BIGINT  NOT NULL,
    expires    BIGINT  NOT NULL,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
);
CREATE INDEX session_by_user ON session (account_id, user_id);
CREATE INDEX session_by_id ON session (id);

CREATE TABLE link (
    hash       BYTEA   NOT NULL PRIMARY KEY,
    account_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL,
    purpose    TEXT    NOT NULL,
    expires    BIGINT  NOT NULL,
    FOREIGN KEY (account_id, user_id) REFERENCES account_user (account_id, id) ON DELETE CASCADE
);
CREATE INDEX link_by_user ON link (account_id, user_id);

CREATE TABLE signing_key (
    kid      TEXT    NOT NULL PRIMARY KEY,
    pkcs8    BYTEA   NOT NULL,
    creation BIGINT  NOT NULL
);

CREATE TABLE idempotency (
    account_id BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL,
    endpoint   TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    body_hash  BYTEA   NOT NULL,
    made       TEXT    NOT NULL,
    creation   BIGINT  NOT NULL,
    PRIMARY KEY (account_id, user_id, endpoint, key)
);
CREATE INDEX idempotency_by_age ON idempotency (creation);

CREATE TABLE alert (
    account_id      BIGINT  NOT NULL,
    id              BIGINT  NOT NULL,
    device_id       BIGINT  NOT NULL,
    time            BIGINT  NOT NULL,
    hash            BYTEA   NOT NULL,
    name            TEXT    NOT NULL,
    text            TEXT,
    critical        BOOLEAN NOT NULL,
    latitude        BIGINT CHECK (latitude BETWEEN -900000000 AND 900000000),
    longitude       BIGINT CHECK (longitude BETWEEN -1800000000 AND 1799999999),
    attributes      BYTEA   NOT NULL,
    received_at     BIGINT  NOT NULL,
    acknowledged_at BIGINT,
    acknowledged_by BIGINT,
    ended_at        BIGINT,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, time, hash),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);

CREATE TABLE share (
    account_id  BIGINT  NOT NULL REFERENCES account (id),
    id          BIGINT  NOT NULL,
    device_id   BIGINT,
    group_id    BIGINT,
    name        TEXT,
    starts      BIGINT  NOT NULL,
    ends        BIGINT  NOT NULL,
    secret      TEXT    NOT NULL UNIQUE,
    views       BIGINT  NOT NULL DEFAULT 0,
    last_viewed BIGINT,
    created_by  BIGINT,
    creation    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, id),
    CHECK ((device_id IS NULL) <> (group_id IS NULL)),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, group_id) REFERENCES device_group (account_id, id) ON DELETE CASCADE
);

-- Readers go by number, so numbers are drawn under the lock of the account: none is committed after a higher one.
CREATE TABLE event (
    number     BIGINT  NOT NULL GENERATED ALWAYS AS IDENTITY,
    account_id BIGINT  NOT NULL REFERENCES account (id),
    at         BIGINT  NOT NULL,
    kind       TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    device_id  BIGINT,
    data       TEXT    NOT NULL,
    PRIMARY KEY (account_id, number)
);

-- Up to which number an account's events were trimmed: nobody reads on from behind it.
CREATE TABLE event_trim (
    account_id BIGINT  NOT NULL PRIMARY KEY REFERENCES account (id),
    number     BIGINT  NOT NULL
);

CREATE TABLE audit (
    account_id BIGINT  NOT NULL REFERENCES account (id),
    id         BIGINT  NOT NULL,
    at         BIGINT  NOT NULL,
    via        TEXT    NOT NULL,
    user_id    BIGINT,
    address    TEXT,
    request    TEXT,
    action     TEXT    NOT NULL,
    target     TEXT,
    outcome    TEXT    NOT NULL,
    detail     TEXT,
    PRIMARY KEY (account_id, id)
);
