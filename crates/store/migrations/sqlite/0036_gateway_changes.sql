-- Gateways that are changed, and what deleted ones leave for their messages.

ALTER TABLE gateway ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
-- Null while nobody changed it.
ALTER TABLE gateway ADD COLUMN last_modified INTEGER;
-- The secret before the present one, and until when it is answered.
ALTER TABLE gateway ADD COLUMN previous_hash BLOB;
ALTER TABLE gateway ADD COLUMN previous_until INTEGER;
CREATE INDEX gateway_by_previous_hash ON gateway (previous_hash) WHERE previous_hash IS NOT NULL;

-- Settings of deleted gateways without their secrets, to decode their messages again. Kept as long as raw messages.
CREATE TABLE deleted_gateway (
    account_id INTEGER NOT NULL REFERENCES account (id),
    id         INTEGER NOT NULL,
    feed       TEXT NOT NULL,
    device_id  INTEGER,
    options    TEXT NOT NULL,
    creation   INTEGER NOT NULL,
    deleted_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deleted_gateway_by_age ON deleted_gateway (deleted_at);
