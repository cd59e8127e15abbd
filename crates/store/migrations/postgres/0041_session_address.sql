-- The IP address from which the user signed in; null for sessions of earlier versions. Who signed in from a network before does
-- not wait behind strangers who try passwords, also after a restart.
ALTER TABLE session ADD COLUMN address TEXT;
