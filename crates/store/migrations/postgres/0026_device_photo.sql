-- A photo of a device that users set, and whether a share link names the account.

CREATE TABLE device_photo (
    account_id BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    created    BIGINT NOT NULL,
    media_type TEXT NOT NULL,
    size       BIGINT NOT NULL,
    bytes      BYTEA NOT NULL,
    PRIMARY KEY (account_id, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
-- The id of its photo, so that lists need not look for it.
ALTER TABLE device ADD COLUMN photo_id BIGINT;

-- Links that exist go on without the name.
ALTER TABLE share ADD COLUMN show_account BOOLEAN NOT NULL DEFAULT FALSE;
