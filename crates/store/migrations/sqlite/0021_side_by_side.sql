-- Several connections draw numbers of PostgreSQL's log at the same time; here one writer does.

-- The account of each share link, by its secret, so that the link itself is found with its account. Rows of links that were
-- deleted with their device leave when they end.
CREATE TABLE share_directory (
    secret     TEXT   NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    ends       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO share_directory (secret, account_id, ends) SELECT secret, account_id, ends FROM share;
CREATE INDEX share_directory_by_end ON share_directory (ends);
