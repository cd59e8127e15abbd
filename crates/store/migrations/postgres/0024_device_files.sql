-- Photos and other files that devices upload. A device has a bounded number of them.
CREATE TABLE device_file (
    account_id  BIGINT  NOT NULL,
    id          BIGINT  NOT NULL,
    device_id   BIGINT  NOT NULL,
    captured_at BIGINT,
    received_at BIGINT  NOT NULL,
    name        TEXT    NOT NULL,
    media_type  TEXT    NOT NULL,
    size        BIGINT  NOT NULL,
    source      TEXT    NOT NULL,
    -- SHA-256 of name, time and bytes: a file that is sent again is stored once.
    digest      BYTEA   NOT NULL,
    bytes       BYTEA   NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, device_id, digest),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX device_file_by_device ON device_file (account_id, device_id, id);
