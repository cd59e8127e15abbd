-- When the expiry is announced in advance, so that an index finds what is due. Null if the account wants no such notice.
ALTER TABLE device ADD COLUMN near_at INTEGER;
UPDATE device SET near_at = device.expires - a.expiry_notice_days * 86400000
FROM account a WHERE a.id = device.account_id AND a.expiry_notice_days > 0 AND device.expires IS NOT NULL;
-- Expiries not announced in advance.
CREATE INDEX device_by_near ON device (near_at)
    WHERE licensed = TRUE AND near_at IS NOT NULL AND (announced_near IS NULL OR announced_near <> expires);
-- Licences taken back, by a clock that may have been ahead, and not announced as expired.
CREATE INDEX device_by_lapse ON device (expires)
    WHERE licensed = FALSE AND expires IS NOT NULL AND (announced_expired IS NULL OR announced_expired <> expires);
