-- From where a claim was proven, and two networks from which its identifier reports: one finding for each claim.

-- The network of the report that proved the claim; null if an operator did, or nobody.
ALTER TABLE identifier_claim ADD COLUMN proof_network TEXT;

-- The latest finding; null without one. It is open until an operator decided.
ALTER TABLE identifier_claim ADD COLUMN network_reason TEXT;
ALTER TABLE identifier_claim ADD COLUMN known_network TEXT;
ALTER TABLE identifier_claim ADD COLUMN other_network TEXT;
ALTER TABLE identifier_claim ADD COLUMN network_found_at BIGINT;
ALTER TABLE identifier_claim ADD COLUMN network_decided_at BIGINT;
