-- What gateways need: all names under which devices report, whose they are on shared listeners, and raw messages.

-- Further names of a device as JSON: name, link, priority.
ALTER TABLE device ADD COLUMN identifiers TEXT NOT NULL DEFAULT '[]';
-- The checksum covers the new column; it is computed again over time.
UPDATE device SET checksum = NULL;

-- Every name of every device, to find the device by: those of device.identifier and device.identifiers.
CREATE TABLE device_identifier (
    account_id BIGINT NOT NULL,
    identifier TEXT   NOT NULL,
    device_id  BIGINT NOT NULL,
    PRIMARY KEY (account_id, identifier),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX device_identifier_by_name ON device_identifier (identifier);
CREATE INDEX device_identifier_by_device ON device_identifier (account_id, device_id);

-- The one device that an identifier belongs to where accounts share a listener. The first account to use it claims it.
CREATE TABLE identifier_claim (
    identifier TEXT   NOT NULL PRIMARY KEY,
    account_id BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    claimed_at BIGINT NOT NULL,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX identifier_claim_by_device ON identifier_claim (account_id, device_id);

INSERT INTO device_identifier (account_id, identifier, device_id)
    SELECT account_id, identifier, id FROM device WHERE identifier IS NOT NULL;
INSERT INTO identifier_claim (identifier, account_id, device_id, claimed_at)
    SELECT identifier, account_id, id, creation FROM device WHERE identifier IS NOT NULL ORDER BY creation, id
    ON CONFLICT (identifier) DO NOTHING;

-- Messages as they came. No other index and no reference to the device: each would write a page more for every device
-- of a commit. Messages of deleted devices are hidden and leave with their retention.
CREATE TABLE raw_message (
    account_id  BIGINT NOT NULL REFERENCES account (id),
    id          BIGINT NOT NULL,
    received_at BIGINT NOT NULL,
    device_id   BIGINT,
    source      TEXT   NOT NULL,
    peer        TEXT   NOT NULL,
    identifier  TEXT,
    result      TEXT   NOT NULL,
    error       TEXT,
    bytes       BYTEA  NOT NULL,
    PRIMARY KEY (account_id, id)
);

-- Devices that were heard and are not known, and the last of what they sent; both are bounded. The account is 0 where a
-- listener is shared.
CREATE TABLE heard_device (
    account_id  BIGINT  NOT NULL,
    identifier  TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    peer        TEXT    NOT NULL,
    first_heard BIGINT  NOT NULL,
    last_heard  BIGINT  NOT NULL,
    messages    BIGINT  NOT NULL,
    PRIMARY KEY (account_id, identifier)
);
CREATE INDEX heard_device_by_age ON heard_device (last_heard);

CREATE TABLE heard_message (
    account_id  BIGINT  NOT NULL,
    identifier  TEXT    NOT NULL,
    id          BIGINT  NOT NULL,
    received_at BIGINT  NOT NULL,
    source      TEXT    NOT NULL,
    peer        TEXT    NOT NULL,
    datagram    BOOLEAN NOT NULL,
    bytes       BYTEA   NOT NULL,
    PRIMARY KEY (account_id, identifier, id),
    FOREIGN KEY (account_id, identifier) REFERENCES heard_device (account_id, identifier) ON DELETE CASCADE
);
