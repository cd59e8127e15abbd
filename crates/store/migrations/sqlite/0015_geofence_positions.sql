-- How many positions a geofence has. Their sum is limited by account, and is read from the index alone.
ALTER TABLE geofence ADD COLUMN positions INTEGER NOT NULL DEFAULT 0;
UPDATE geofence SET positions = (length(shape) - length(replace(shape, '"latitude"', ''))) / 10;
CREATE INDEX geofence_by_positions ON geofence (account_id, positions);
