-- Without statistics the planner takes any index that begins with the account for as good as the primary key, and a table that
-- grew fast was read by account: by each creation of a device, and by each check of a foreign key to it. Only the primary key
-- begins with the account now; the other indexes have a condition.
DROP INDEX device_by_license;
CREATE INDEX device_by_license ON device (account_id, expires) WHERE licensed = TRUE AND expires IS NOT NULL;
ALTER TABLE device DROP CONSTRAINT device_account_id_identifier_key;
CREATE UNIQUE INDEX device_by_identifier ON device (account_id, identifier) WHERE identifier IS NOT NULL;
