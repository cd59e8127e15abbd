-- Claims of identifiers are proven: by a report in a stated interval, or by an operator.

-- When a claim was proven; null if it is not. Claims from before count as proven.
ALTER TABLE identifier_claim ADD COLUMN proven_at BIGINT;
UPDATE identifier_claim SET proven_at = claimed_at;

-- The interval that was stated to a device, and how many an account had stated since when.
CREATE TABLE claim_proof (
    account_id   BIGINT NOT NULL,
    identifier   TEXT NOT NULL,
    device_id    BIGINT NOT NULL,
    window_from  BIGINT,
    window_until BIGINT,
    tried_since  BIGINT NOT NULL,
    tries        BIGINT NOT NULL,
    PRIMARY KEY (account_id, identifier),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX claim_proof_by_identifier ON claim_proof (identifier) WHERE window_until IS NOT NULL;
