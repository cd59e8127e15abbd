-- The licence of a device is repeated beside its state, so that a submission reads one row for each device. Null where a row was
-- made without it; then it is read from the device.
ALTER TABLE device_live
    ADD COLUMN licensed BOOLEAN,
    ADD COLUMN expires  BIGINT;
UPDATE device_live v SET licensed = d.licensed, expires = d.expires
FROM device d WHERE d.account_id = v.account_id AND d.id = v.device_id;

-- When the expiry is announced in advance, so that an index finds what is due. Null if the account wants no such notice.
ALTER TABLE device ADD COLUMN near_at BIGINT;
UPDATE device d SET near_at = d.expires - a.expiry_notice_days * 86400000
FROM account a WHERE a.id = d.account_id AND a.expiry_notice_days > 0 AND d.expires IS NOT NULL;
-- Expiries not announced in advance.
CREATE INDEX device_by_near ON device (near_at)
    WHERE licensed AND near_at IS NOT NULL AND (announced_near IS NULL OR announced_near <> expires);
-- Licences taken back, by a clock that may have been ahead, and not announced as expired.
CREATE INDEX device_by_lapse ON device (expires)
    WHERE NOT licensed AND expires IS NOT NULL AND (announced_expired IS NULL OR announced_expired <> expires);
