-- Refusals are counted in one row of the audit log for each kind and hour.

ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
-- When the last of several refusals came; null when the row stands for one.
ALTER TABLE audit ADD COLUMN last_at INTEGER;
-- The hour and the kind of refusals that are counted together; null for everything else.
ALTER TABLE audit ADD COLUMN refusal TEXT;
CREATE UNIQUE INDEX audit_by_refusal ON audit (account_id, refusal) WHERE refusal IS NOT NULL;
