-- How messages of a device are read: settings of a client, and what the device itself told.

-- A JSON object of settings by their names.
ALTER TABLE device ADD COLUMN decoding TEXT NOT NULL DEFAULT '{}';
-- The checksum covers the new column; it is computed again over time.
UPDATE device SET checksum = NULL;

-- The model that its messages told.
ALTER TABLE device_live ADD COLUMN reported_model TEXT;
-- Time zone of its clock in minutes ahead of UTC that is proposed to users.
ALTER TABLE device_live ADD COLUMN proposed_zone_minutes INTEGER;
