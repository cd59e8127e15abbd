-- Where the device was last known to be when an alert without a position was received.
ALTER TABLE alert ADD COLUMN known_latitude INTEGER CHECK (known_latitude BETWEEN -900000000 AND 900000000);
ALTER TABLE alert ADD COLUMN known_longitude INTEGER CHECK (known_longitude BETWEEN -1800000000 AND 1799999999);
