-- Licences that devices of the account hold. It is kept with every change under the lock of the account, so that no decision
-- counts all devices.
ALTER TABLE account ADD COLUMN held_licenses INTEGER NOT NULL DEFAULT 0;
-- Whether a submission took back the expired licence of the device since licences were last counted: it is still in
-- held_licenses. A submission does not have the lock of the account.
ALTER TABLE device ADD COLUMN lapsed INTEGER NOT NULL DEFAULT 0 CHECK (lapsed IN (0, 1));
UPDATE account SET held_licenses =
    (SELECT COUNT(*) FROM device d WHERE d.account_id = account.id AND d.licensed = TRUE);
CREATE INDEX device_lapsed ON device (account_id) WHERE lapsed = TRUE;
