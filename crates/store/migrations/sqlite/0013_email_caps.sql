-- Caps on e-mail, who ended or confirmed it, and the key of the links in it.

-- E-mails of the day, and those of critical alerts that went beyond the caps.
ALTER TABLE account_counter ADD COLUMN emails INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account_counter ADD COLUMN critical_emails INTEGER NOT NULL DEFAULT 0;

-- Whether it was counted against the caps on e-mail: once, at its first attempt.
ALTER TABLE notification ADD COLUMN email_counted INTEGER NOT NULL DEFAULT 0;

-- E-mails to one address in one hour. Addresses in lower case.
CREATE TABLE recipient_counter (
    account_id INTEGER NOT NULL REFERENCES account (id),
    address    TEXT    NOT NULL,
    hour       INTEGER NOT NULL,
    emails     INTEGER NOT NULL,
    PRIMARY KEY (account_id, address, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX recipient_counter_by_age ON recipient_counter (hour);

-- What a recipient said by the link in a mail, and when they were asked to confirm. Addresses in lower case.
CREATE TABLE email_recipient (
    account_id      INTEGER NOT NULL REFERENCES account (id),
    address         TEXT    NOT NULL,
    unsubscribed_at INTEGER,
    confirmed_at    INTEGER,
    asked_at        INTEGER,
    PRIMARY KEY (account_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX email_recipient_by_question ON email_recipient (account_id, asked_at) WHERE asked_at IS NOT NULL;

-- Keys the service made for itself, shared by all nodes.
CREATE TABLE service_key (
    name     TEXT    NOT NULL PRIMARY KEY,
    key      BLOB    NOT NULL,
    creation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
