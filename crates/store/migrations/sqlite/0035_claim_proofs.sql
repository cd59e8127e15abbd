-- Claims of identifiers are proven: by a report in a stated interval, or by an operator.

-- When a claim was proven; null if it is not. Claims from before count as proven.
ALTER TABLE identifier_claim ADD COLUMN proven_at INTEGER;
UPDATE identifier_claim SET proven_at = claimed_at;

-- The interval that was stated to a device, and how many an account had stated since when.
CREATE TABLE claim_proof (
    account_id   INTEGER NOT NULL,
    identifier   TEXT NOT NULL,
    device_id    INTEGER NOT NULL,
    window_from  INTEGER,
    window_until INTEGER,
    tried_since  INTEGER NOT NULL,
    tries        INTEGER NOT NULL,
    PRIMARY KEY (account_id, identifier),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX claim_proof_by_identifier ON claim_proof (identifier) WHERE window_until IS NOT NULL;
