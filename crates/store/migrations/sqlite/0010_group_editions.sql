-- Members of groups in editions, so that thousands of them are changed in small transactions and shown at once.

-- The edition of its members that a group shows.
ALTER TABLE device_group ADD COLUMN edition INTEGER NOT NULL DEFAULT 0;

-- Members by edition. Rows of an edition that its group does not show are being written or removed. There is no
-- reference to the group: one that is deleted loses its members afterwards.
CREATE TABLE group_membership (
    account_id INTEGER NOT NULL,
    group_id   INTEGER NOT NULL,
    edition    INTEGER NOT NULL DEFAULT 0,
    device_id  INTEGER NOT NULL,
    PRIMARY KEY (account_id, group_id, edition, device_id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO group_membership (account_id, group_id, device_id)
    SELECT account_id, group_id, device_id FROM group_member;
DROP TABLE group_member;
CREATE INDEX group_membership_by_device ON group_membership (account_id, device_id);

-- What is shown.
CREATE VIEW group_member AS
    SELECT m.account_id, m.group_id, m.device_id
    FROM group_membership m
    JOIN device_group g ON g.account_id = m.account_id AND g.id = m.group_id AND g.edition = m.edition;

-- Large changes under way. Until one is shown, its edition is being written; afterwards the devices that came or went
-- are told of it, in the order of their ids, and the rows of the edition it replaces are removed.
CREATE TABLE group_change (
    account_id   INTEGER NOT NULL REFERENCES account (id),
    group_id     INTEGER NOT NULL,
    edition      INTEGER NOT NULL,
    -- -1 when there was none.
    replaces     INTEGER NOT NULL,
    shown        INTEGER NOT NULL CHECK (shown IN (0, 1)),
    -- The last device that was told.
    after_device INTEGER NOT NULL,
    creation     INTEGER NOT NULL,
    PRIMARY KEY (account_id, group_id, edition)
) STRICT, WITHOUT ROWID;
