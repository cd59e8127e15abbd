-- Licences that can expire, which each creation of a device looks for. Most devices have none, and are not in the index.
DROP INDEX device_by_license;
CREATE INDEX device_by_license ON device (account_id, expires) WHERE licensed = TRUE AND expires IS NOT NULL;
