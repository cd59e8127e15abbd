-- Telephone numbers and instructions of the account for users who handle a critical alert.
ALTER TABLE account ADD COLUMN emergency_procedure TEXT;
