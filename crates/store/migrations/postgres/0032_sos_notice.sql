-- SOS of devices that are not registered or expired, by the name under which they reported. The account is 0 for those of which
-- operators are notified.
CREATE TABLE sos_notice (
    account_id  BIGINT NOT NULL,
    identifier  TEXT NOT NULL,
    reason      TEXT NOT NULL,
    source      TEXT NOT NULL,
    peer        TEXT NOT NULL,
    time        BIGINT NOT NULL,
    latitude    INTEGER,
    longitude   INTEGER,
    received_at BIGINT NOT NULL,
    messages    BIGINT NOT NULL,
    notified_at BIGINT,
    PRIMARY KEY (account_id, identifier)
);
