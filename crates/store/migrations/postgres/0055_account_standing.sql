-- Suspension, deletion and branding of accounts, which operators set.

-- While the first is set, nobody can use the account. The message is shown to users who are refused.
ALTER TABLE account ADD COLUMN suspended_at BIGINT;
ALTER TABLE account ADD COLUMN suspension_message TEXT;
-- When an operator asked for the deletion, and from when on the account is purged.
ALTER TABLE account ADD COLUMN deletion_requested_at BIGINT;
ALTER TABLE account ADD COLUMN purge_at BIGINT;
-- Whether the purge has begun; the deletion can then no longer be undone.
ALTER TABLE account ADD COLUMN is_purging BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX account_by_purge ON account (purge_at) WHERE purge_at IS NOT NULL;

ALTER TABLE account ADD COLUMN brand_name TEXT;
-- As #rrggbb.
ALTER TABLE account ADD COLUMN brand_colour TEXT;
-- The ID of the logo in the next table, so that an account can be read without the picture.
ALTER TABLE account ADD COLUMN logo_id BIGINT;
CREATE TABLE account_logo (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES account (id),
    id         BIGINT NOT NULL,
    created    BIGINT NOT NULL,
    media_type TEXT    NOT NULL,
    bytes      BYTEA   NOT NULL
);
