-- Accounts without pending work: each has a device that expires in a year, a location and an event that its rule and
-- its webhook have read, a rule, and a gateway. ":accounts" is set by scripts/idle and by a test.
BEGIN;
CREATE TEMPORARY TABLE made ON COMMIT DROP AS
  SELECT 4000000000000000000 + n AS id, n, CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) AS now
  FROM generate_series(1, CAST(:accounts AS BIGINT)) n;
INSERT INTO account (id, revision, name, time_zone, expiry_notice_days, licenses, creation, last_modified)
  SELECT id, 1, 'account ' || n, 'UTC', 7, 10, now, now FROM made;
INSERT INTO device (account_id, id, revision, name, tags, expires, near_at, licensed, critical_reserve, search, creation,
    last_modified, checksum)
  SELECT id, id, 1, 'device', '{}', now + 31536000000, now + 30931200000, TRUE, 0, 'device', now, now, 0 FROM made;
INSERT INTO location_log (account_id, device_id, first_number, last_number, first_time, last_time, count, received_at, checksum,
    points)
  SELECT id, id, nextval('event_number'), currval('event_number'), now, now, 1, now, 0, '\x00' FROM made;
INSERT INTO device_live (account_id, device_id, last_seen, packed_to)
  SELECT m.id, m.id, now, l.last_number FROM made m JOIN location_log l ON l.account_id = m.id;
INSERT INTO device_watch (account_id, device_id, status, due) SELECT id, id, 'offline', now + 31536000000 FROM made;
INSERT INTO event (account_id, at, kind, subject, data) SELECT id, now, 'device.created', id, '{}' FROM made;
INSERT INTO rule (account_id, id, revision, generation, since, all_devices, settings, search, creation, last_modified)
  SELECT id, id, 1, 1, 0, FALSE, '{}', 'rule', now, now FROM made;
INSERT INTO rule_follower (account_id, cursor)
  SELECT m.id, l.last_number FROM made m JOIN location_log l ON l.account_id = m.id;
INSERT INTO webhook (account_id, id, revision, url, wanted, enabled, secret, read_to, creation, last_modified)
  SELECT m.id, m.id, 1, 'https://example.com/', '{}', TRUE, '\x00', e.number, now, now
  FROM made m JOIN event e ON e.account_id = m.id;
INSERT INTO gateway (account_id, id, feed, options, secret_hash, creation)
  SELECT id, id, 'mapping', '{}', CAST(CAST(id AS TEXT) AS BYTEA), now FROM made;
INSERT INTO gateway_state (account_id, gateway_id) SELECT id, id FROM made;
COMMIT;
DO $$
DECLARE
  of_schema TEXT;
BEGIN
  FOR of_schema IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
    EXECUTE 'ANALYZE ' || of_schema;
  END LOOP;
END $$;
