-- Drivers: people with key tags, their assignments to devices, and who drove during each segment. Rules about trips.

CREATE TABLE driver (
    account_id    BIGINT NOT NULL REFERENCES account (id),
    id            BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    name          TEXT   NOT NULL,
    phone         TEXT,
    email         TEXT,
    -- A user who is deleted is no longer named here.
    user_id       BIGINT,
    description   TEXT,
    search        TEXT   NOT NULL,
    creation      BIGINT NOT NULL,
    last_modified BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX driver_by_name ON driver (account_id, name);
CREATE INDEX driver_by_user ON driver (account_id, user_id) WHERE user_id IS NOT NULL;

-- Key tags in the form in which they are compared: in upper case, without separators and leading zeros.
CREATE TABLE driver_tag (
    account_id BIGINT NOT NULL,
    tag        TEXT   NOT NULL,
    driver_id  BIGINT NOT NULL,
    PRIMARY KEY (account_id, tag),
    FOREIGN KEY (account_id, driver_id) REFERENCES driver (account_id, id) ON DELETE CASCADE
);
CREATE INDEX driver_tag_by_driver ON driver_tag (account_id, driver_id, tag);

-- Who drives a device from when to when; without an end, to_at is the end of time. Those of a device do not overlap.
CREATE TABLE driver_assignment (
    account_id    BIGINT NOT NULL,
    id            BIGINT NOT NULL,
    driver_id     BIGINT NOT NULL,
    device_id     BIGINT NOT NULL,
    from_at       BIGINT NOT NULL,
    to_at         BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    creation      BIGINT NOT NULL,
    last_modified BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, driver_id) REFERENCES driver (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX driver_assignment_by_driver ON driver_assignment (account_id, driver_id, id);
CREATE INDEX driver_assignment_by_device ON driver_assignment (account_id, device_id, from_at);

-- Who drove: the driver, the name at that time, and how it is known. If a user said it, `driver` has what the user wrote.
-- `tag_key` is `driver_tag` in the form in which tags are compared.
ALTER TABLE timeline_segment ADD COLUMN driver_id BIGINT;
ALTER TABLE timeline_segment ADD COLUMN driver_name TEXT;
ALTER TABLE timeline_segment ADD COLUMN driver_source TEXT;
ALTER TABLE timeline_segment ADD COLUMN tag_key TEXT;
UPDATE timeline_segment SET driver_name = driver, driver_source = 'manual' WHERE driver IS NOT NULL;
UPDATE timeline_segment SET tag_key = NULLIF(LTRIM(UPPER((REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(driver_tag, ' ', ''), '-', ''), ':', ''), '.', ''), '_', ''), '/', '')) COLLATE "C"), '0'), '') WHERE driver_tag IS NOT NULL;
CREATE INDEX timeline_segment_by_driver ON timeline_segment (account_id, driver_id, device_id, from_at)
    WHERE driver_id IS NOT NULL;
CREATE INDEX timeline_segment_by_tag ON timeline_segment (account_id, tag_key, device_id, from_at)
    WHERE tag_key IS NOT NULL;

-- The range of beginnings of segments whose drivers have to be found again; null if there is none.
ALTER TABLE timeline_device ADD COLUMN drivers_from BIGINT;
ALTER TABLE timeline_device ADD COLUMN drivers_to BIGINT;
CREATE INDEX timeline_device_by_drivers ON timeline_device (account_id, device_id) WHERE drivers_from IS NOT NULL;

-- Whether the conditions of a rule are about trips.
ALTER TABLE rule ADD COLUMN watches_trips BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX rule_about_trips ON rule (account_id, id) WHERE watches_trips = TRUE;
