-- What the console keeps of its users.

-- How things are shown to them, as JSON; null when they never chose.
ALTER TABLE account_user ADD COLUMN preferences TEXT;

-- How often each user called the API in each hour: with tokens of their key, or by the console.
CREATE TABLE call_hour (
    account_id BIGINT  NOT NULL REFERENCES account (id),
    hour       BIGINT  NOT NULL,
    user_id    BIGINT  NOT NULL,
    by_key     BOOLEAN NOT NULL,
    calls      BIGINT  NOT NULL,
    PRIMARY KEY (account_id, hour, user_id, by_key)
);
CREATE INDEX call_hour_by_age ON call_hour (hour);
