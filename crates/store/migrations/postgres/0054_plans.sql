-- Plans of voyages, shifts and hikes: their devices, their timelines, travellers' links, and messages to devices that wait.

-- Settings and progress as JSON; the instants from which something waits are columns, so that they follow the clock. Texts of
-- devices up to last_text_id were read. When the plan is examined next: at once after a text or a location, or when a step is due.
CREATE TABLE float_plan (
    account_id    BIGINT NOT NULL REFERENCES account (id),
    id            BIGINT NOT NULL,
    revision      BIGINT NOT NULL,
    settings      TEXT    NOT NULL,
    progress      TEXT    NOT NULL,
    state         TEXT    NOT NULL,
    is_template   BOOLEAN NOT NULL,
    base_at       BIGINT,
    not_before    BIGINT,
    paused_until  BIGINT,
    step_at       BIGINT,
    last_text_id  BIGINT NOT NULL,
    evaluate_at   BIGINT,
    creation      BIGINT NOT NULL,
    last_modified BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX float_plan_by_time ON float_plan (evaluate_at, account_id) WHERE evaluate_at IS NOT NULL;

CREATE TABLE float_plan_device (
    account_id BIGINT NOT NULL,
    plan_id    BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    PRIMARY KEY (account_id, plan_id, ordinal),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX float_plan_device_by_device ON float_plan_device (account_id, device_id, plan_id);

CREATE TABLE float_plan_event (
    account_id BIGINT NOT NULL,
    plan_id    BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    kind       TEXT    NOT NULL,
    document   TEXT    NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE
);
CREATE INDEX float_plan_event_by_plan ON float_plan_event (account_id, plan_id, id);

-- The secret is also in share_directory, by which the account of a link is found.
CREATE TABLE float_plan_link (
    account_id BIGINT NOT NULL,
    id         BIGINT NOT NULL,
    plan_id    BIGINT NOT NULL,
    name       TEXT,
    secret     TEXT    NOT NULL,
    ends       BIGINT,
    last_used  BIGINT,
    creation   BIGINT NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX float_plan_link_by_secret ON float_plan_link (account_id, secret);
CREATE INDEX float_plan_link_by_plan ON float_plan_link (account_id, plan_id, id);

-- Messages that ask a traveller to check in, until they are queued in the conversation of the device.
CREATE TABLE float_plan_nudge (
    account_id BIGINT NOT NULL,
    plan_id    BIGINT NOT NULL,
    device_id  BIGINT NOT NULL,
    deadline   BIGINT NOT NULL,
    created    BIGINT NOT NULL,
    PRIMARY KEY (account_id, plan_id, device_id),
    FOREIGN KEY (account_id, plan_id) REFERENCES float_plan (account_id, id) ON DELETE CASCADE,
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
);
CREATE INDEX float_plan_nudge_by_time ON float_plan_nudge (created, account_id);
