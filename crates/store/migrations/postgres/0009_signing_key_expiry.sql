-- When a key that signed tokens stops verifying them, in milliseconds since 1970; null for the one that signs.
ALTER TABLE signing_key ADD COLUMN expires BIGINT;
-- Keys that were there before: the newest one signs, the others verify for another day, the longest life of a token.
UPDATE signing_key SET expires = creation + 86400000 WHERE kid <> (
    SELECT kid FROM signing_key ORDER BY creation DESC, kid LIMIT 1
);
