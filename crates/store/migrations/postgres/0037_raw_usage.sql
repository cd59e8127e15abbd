-- How much room raw messages take, by day and by who sent them; 0 stands for no gateway and no device.
CREATE TABLE raw_usage (
    account_id    BIGINT NOT NULL,
    day           BIGINT NOT NULL,
    gateway_id    BIGINT NOT NULL,
    device_id     BIGINT NOT NULL,
    kept          BIGINT NOT NULL,
    kept_bytes    BIGINT NOT NULL,
    unused_bytes  BIGINT NOT NULL,
    dropped       BIGINT NOT NULL,
    dropped_bytes BIGINT NOT NULL,
    PRIMARY KEY (account_id, day, gateway_id, device_id)
);

-- Raw messages that stored nothing new are deleted earlier. The others are not in this index, so that they cost no page more.
CREATE INDEX raw_message_unused ON raw_message (account_id, id) WHERE result <> 'decoded';
