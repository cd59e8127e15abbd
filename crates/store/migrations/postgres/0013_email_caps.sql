-- Caps on e-mail, who ended or confirmed it, and the key of the links in it.

-- E-mails of the day, and those of critical alerts that went beyond the caps.
ALTER TABLE account_counter ADD COLUMN emails BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account_counter ADD COLUMN critical_emails BIGINT NOT NULL DEFAULT 0;

-- Whether it was counted against the caps on e-mail: once, at its first attempt.
ALTER TABLE notification ADD COLUMN email_counted BOOLEAN NOT NULL DEFAULT FALSE;

-- E-mails to one address in one hour. Addresses in lower case.
CREATE TABLE recipient_counter (
    account_id BIGINT NOT NULL REFERENCES account (id),
    address    TEXT    NOT NULL,
    hour       BIGINT NOT NULL,
    emails     BIGINT NOT NULL,
    PRIMARY KEY (account_id, address, hour)
);
CREATE INDEX recipient_counter_by_age ON recipient_counter (hour);

-- What a recipient said by the link in a mail, and when they were asked to confirm. Addresses in lower case.
CREATE TABLE email_recipient (
    account_id      BIGINT NOT NULL REFERENCES account (id),
    address         TEXT    NOT NULL,
    unsubscribed_at BIGINT,
    confirmed_at    BIGINT,
    asked_at        BIGINT,
    PRIMARY KEY (account_id, address)
);
CREATE INDEX email_recipient_by_question ON email_recipient (account_id, asked_at) WHERE asked_at IS NOT NULL;

-- Keys the service made for itself, shared by all nodes.
CREATE TABLE service_key (
    name     TEXT    NOT NULL PRIMARY KEY,
    key      BYTEA   NOT NULL,
    creation BIGINT NOT NULL
);
