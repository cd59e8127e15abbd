-- How much room raw messages take, by day and by who sent them; 0 stands for no gateway and no device.
CREATE TABLE raw_usage (
    account_id    INTEGER NOT NULL,
    day           INTEGER NOT NULL,
    gateway_id    INTEGER NOT NULL,
    device_id     INTEGER NOT NULL,
    kept          INTEGER NOT NULL,
    kept_bytes    INTEGER NOT NULL,
    unused_bytes  INTEGER NOT NULL,
    dropped       INTEGER NOT NULL,
    dropped_bytes INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, gateway_id, device_id)
) STRICT, WITHOUT ROWID;

-- Raw messages that stored nothing new are deleted earlier. The others are not in this index, so that they cost no page more.
CREATE INDEX raw_message_unused ON raw_message (account_id, id) WHERE result <> 'decoded';
