-- The last location moves into the row of its device's state: a submission locks, reads and changes one row instead of two.

-- All but the last checksum are null while there is no last location.
ALTER TABLE device_live
    ADD COLUMN last_number      BIGINT,
    ADD COLUMN last_time        BIGINT,
    ADD COLUMN last_received_at BIGINT,
    ADD COLUMN last_latitude    INTEGER CHECK (last_latitude BETWEEN -900000000 AND 900000000),
    ADD COLUMN last_longitude   INTEGER CHECK (last_longitude BETWEEN -1800000000 AND 1799999999),
    ADD COLUMN last_late        BOOLEAN,
    ADD COLUMN last_readings    BYTEA,
    ADD COLUMN last_checksum    BIGINT,
    ADD CHECK (num_nulls(last_number, last_time, last_received_at, last_latitude, last_longitude, last_late,
                         last_readings) IN (0, 7));
INSERT INTO device_live (account_id, device_id, last_seen)
    SELECT account_id, device_id, received_at FROM last_location ON CONFLICT DO NOTHING;
UPDATE device_live v SET last_number = l.number, last_time = l.time, last_received_at = l.received_at,
    last_latitude = l.latitude, last_longitude = l.longitude, last_late = l.late, last_readings = l.readings,
    last_checksum = l.checksum
FROM last_location l WHERE l.account_id = v.account_id AND l.device_id = v.device_id;
DROP TABLE last_location;

-- What reads last locations reads them under the same names on both engines. Rows are not deleted through it: that would
-- delete the whole state of a device.
CREATE VIEW last_location AS
    SELECT account_id, device_id, last_number AS number, last_time AS time, last_received_at AS received_at,
        last_latitude AS latitude, last_longitude AS longitude, last_late AS late, last_readings AS readings,
        last_checksum AS checksum
    FROM device_live WHERE last_number IS NOT NULL;
