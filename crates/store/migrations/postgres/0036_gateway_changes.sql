-- Gateways that are changed, and what deleted ones leave for their messages.

ALTER TABLE gateway ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;
-- Null while nobody changed it.
ALTER TABLE gateway ADD COLUMN last_modified BIGINT;
-- The secret before the present one, and until when it is answered.
ALTER TABLE gateway ADD COLUMN previous_hash BYTEA;
ALTER TABLE gateway ADD COLUMN previous_until BIGINT;
CREATE INDEX gateway_by_previous_hash ON gateway (previous_hash) WHERE previous_hash IS NOT NULL;

-- Settings of deleted gateways without their secrets, to decode their messages again. Kept as long as raw messages.
CREATE TABLE deleted_gateway (
    account_id BIGINT NOT NULL REFERENCES account (id),
    id         BIGINT NOT NULL,
    feed       TEXT NOT NULL,
    device_id  BIGINT,
    options    TEXT NOT NULL,
    creation   BIGINT NOT NULL,
    deleted_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX deleted_gateway_by_age ON deleted_gateway (deleted_at);
