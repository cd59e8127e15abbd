-- Limits and counters of messages by channel, so that a channel needs no columns of its own.

CREATE TABLE device_message_counter (
    account_id BIGINT  NOT NULL,
    device_id  BIGINT  NOT NULL,
    date       TEXT    NOT NULL,
    channel    TEXT    NOT NULL,
    messages   BIGINT  NOT NULL DEFAULT 0,
    -- Segments of SMS; 0 for other channels.
    segments   BIGINT  NOT NULL DEFAULT 0,
    -- Whether the owners were notified that the day's messages are used up.
    announced  BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (account_id, device_id, date, channel),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
INSERT INTO device_message_counter (account_id, device_id, date, channel, messages, segments, announced)
SELECT account_id, device_id, date, 'email', emails_sent, 0, emails_told FROM device_counter
WHERE emails_sent <> 0 OR emails_told;
INSERT INTO device_message_counter (account_id, device_id, date, channel, messages, segments, announced)
SELECT account_id, device_id, date, 'sms', sms_sent, sms_segments, sms_told FROM device_counter
WHERE sms_sent <> 0 OR sms_segments <> 0 OR sms_told;
DROP TABLE device_counter;

CREATE TABLE account_message_counter (
    account_id     BIGINT  NOT NULL REFERENCES account (id),
    date           TEXT    NOT NULL,
    channel        TEXT    NOT NULL,
    -- In the unit of the channel: segments of SMS, messages of others.
    units          BIGINT  NOT NULL DEFAULT 0,
    -- Those of critical alerts that went beyond the caps.
    critical_units BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, date, channel)
);
INSERT INTO account_message_counter (account_id, date, channel, units, critical_units)
SELECT account_id, date, 'email', emails, critical_emails FROM account_counter
WHERE emails <> 0 OR critical_emails <> 0;
INSERT INTO account_message_counter (account_id, date, channel, units, critical_units)
SELECT account_id, date, 'sms', sms_segments, 0 FROM account_counter WHERE sms_segments <> 0;
DROP TABLE account_counter;

-- The daily limits of a device: a JSON object with the limit by the name of the channel.
ALTER TABLE device ADD COLUMN daily_limits TEXT NOT NULL DEFAULT '{}';
UPDATE device SET daily_limits = '{'
    || CASE WHEN daily_emails IS NULL THEN '' ELSE '"email":' || daily_emails END
    || CASE WHEN daily_emails IS NULL OR daily_sms IS NULL THEN '' ELSE ',' END
    || CASE WHEN daily_sms IS NULL THEN '' ELSE '"sms":' || daily_sms END
    || '}',
    -- The checksum covers every column; the service computes it again.
    checksum = NULL;
ALTER TABLE device DROP COLUMN daily_emails;
ALTER TABLE device DROP COLUMN daily_sms;
