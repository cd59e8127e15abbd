-- SOS of devices that are not registered or expired, by the name under which they reported. The account is 0 for those of which
-- operators are notified.
CREATE TABLE sos_notice (
    account_id  INTEGER NOT NULL,
    identifier  TEXT NOT NULL,
    reason      TEXT NOT NULL,
    source      TEXT NOT NULL,
    peer        TEXT NOT NULL,
    time        INTEGER NOT NULL,
    latitude    INTEGER,
    longitude   INTEGER,
    received_at INTEGER NOT NULL,
    messages    INTEGER NOT NULL,
    notified_at INTEGER,
    PRIMARY KEY (account_id, identifier)
);
