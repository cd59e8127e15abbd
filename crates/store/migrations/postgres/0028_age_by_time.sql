-- The age of these rows is measured by their time: their ids increase even if the clock was set back.
CREATE INDEX audit_by_time ON audit (account_id, at);
CREATE INDEX device_file_by_time ON device_file (account_id, received_at);
