-- A photo of a device that users set, and whether a share link names the account.

CREATE TABLE device_photo (
    account_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    created    INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    size       INTEGER NOT NULL,
    bytes      BLOB NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT;
-- The id of its photo, so that lists need not look for it.
ALTER TABLE device ADD COLUMN photo_id INTEGER;

-- Links that exist go on without the name.
ALTER TABLE share ADD COLUMN show_account INTEGER NOT NULL DEFAULT 0;
