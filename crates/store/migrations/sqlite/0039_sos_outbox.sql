-- SOS of unknown and expired devices that are not announced yet, written with the message they came in. The account is 0 for
-- those of which operators are notified. A row is deleted in the transaction that announces it.
CREATE TABLE sos_outbox (
    account_id  INTEGER NOT NULL,
    id          INTEGER NOT NULL,
    received_at INTEGER NOT NULL,
    -- What is known of it, a JSON object.
    notice      TEXT    NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
