-- The first fix of an emergency after its alert, which was received without a position: where and when.
ALTER TABLE alert ADD COLUMN later_latitude INTEGER CHECK (later_latitude BETWEEN -900000000 AND 900000000);
ALTER TABLE alert ADD COLUMN later_longitude INTEGER CHECK (later_longitude BETWEEN -1800000000 AND 1799999999);
ALTER TABLE alert ADD COLUMN later_fix_time BIGINT;
