-- A ceiling on the e-mail of an account, recipients that need no confirmation, and notices to operators of the server.

-- Set by operators; null for the ceiling of the settings.
ALTER TABLE account ADD COLUMN email_ceiling INTEGER;

-- Since when an address that did not confirm gets mail all the same. An account has few of them.
ALTER TABLE email_recipient ADD COLUMN admitted_at INTEGER;
CREATE INDEX email_recipient_by_admission ON email_recipient (account_id, admitted_at) WHERE admitted_at IS NOT NULL;
-- Addresses that got mail before keep getting it.
INSERT INTO email_recipient (account_id, address, admitted_at)
SELECT account_id, lower(address), MAX(sent_at) FROM notification
WHERE channel = 'email' AND sent_at IS NOT NULL GROUP BY account_id, lower(address)
ON CONFLICT (account_id, address) DO UPDATE SET admitted_at = excluded.admitted_at;

-- What operators should look at. One for each subject of a kind.
CREATE TABLE operator_notice (
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    created     INTEGER NOT NULL,
    dismissed_at INTEGER,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, kind, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX operator_notice_by_time ON operator_notice (created) WHERE dismissed_at IS NULL;
