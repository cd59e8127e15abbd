-- Suspension, deletion and branding of accounts, which operators set.

-- While the first is set, nobody can use the account. The message is shown to users who are refused.
ALTER TABLE account ADD COLUMN suspended_at INTEGER;
ALTER TABLE account ADD COLUMN suspension_message TEXT;
-- When an operator asked for the deletion, and from when on the account is purged.
ALTER TABLE account ADD COLUMN deletion_requested_at INTEGER;
ALTER TABLE account ADD COLUMN purge_at INTEGER;
-- Whether the purge has begun; the deletion can then no longer be undone.
ALTER TABLE account ADD COLUMN is_purging INTEGER NOT NULL DEFAULT 0 CHECK (is_purging IN (0, 1));
CREATE INDEX account_by_purge ON account (purge_at) WHERE purge_at IS NOT NULL;

ALTER TABLE account ADD COLUMN brand_name TEXT;
-- As #rrggbb.
ALTER TABLE account ADD COLUMN brand_colour TEXT;
-- The ID of the logo in the next table, so that an account can be read without the picture.
ALTER TABLE account ADD COLUMN logo_id INTEGER;
CREATE TABLE account_logo (
    account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
    id         INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    media_type TEXT    NOT NULL,
    bytes      BLOB    NOT NULL
) STRICT;
