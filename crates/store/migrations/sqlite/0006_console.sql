-- What the console keeps of its users.

-- How things are shown to them, as JSON; null when they never chose.
ALTER TABLE account_user ADD COLUMN preferences TEXT;
