-- Accounts whose messages of earlier versions are searched once for alerts that were not stored with them, and the message up
-- to which that is done. A row is deleted when its search is complete; accounts that are created later have none.
CREATE TABLE alert_search (
    account_id BIGINT NOT NULL PRIMARY KEY REFERENCES account (id),
    after_id   BIGINT NOT NULL
);
INSERT INTO alert_search (account_id, after_id) SELECT id, 0 FROM account;
