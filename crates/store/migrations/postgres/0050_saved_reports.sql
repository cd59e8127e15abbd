-- Reports with a name, the schedules by which they are mailed, and their runs.

CREATE TABLE saved_report (
    account_id    BIGINT NOT NULL REFERENCES account (id),
    id            BIGINT NOT NULL,
    -- The user who created it. Null for the operator; the user may have been deleted since.
    owner_id      BIGINT,
    revision      BIGINT NOT NULL,
    -- Name, report and schedule, as JSON.
    settings      TEXT    NOT NULL,
    -- When the schedule is due or its attempt is repeated, or when the lease of the present attempt ends. Null without
    -- a schedule.
    due           BIGINT,
    -- The last local date that was done, as YYYY-MM-DD.
    done_on       TEXT,
    -- Grows with each claim and each change, so that an older worker cannot finish.
    token         BIGINT NOT NULL DEFAULT 0,
    creation      BIGINT NOT NULL,
    last_modified BIGINT NOT NULL,
    PRIMARY KEY (account_id, id)
);
CREATE INDEX saved_report_by_due ON saved_report (due) WHERE due IS NOT NULL;

CREATE TABLE report_run (
    account_id   BIGINT NOT NULL,
    report_id    BIGINT NOT NULL,
    -- The local date as the number YYYYMMDD.
    number       BIGINT NOT NULL,
    scheduled_at BIGINT NOT NULL,
    state        TEXT    NOT NULL,
    attempts     BIGINT NOT NULL,
    started      BIGINT NOT NULL,
    ended        BIGINT,
    row_count    BIGINT,
    size         BIGINT,
    attached     BOOLEAN NOT NULL DEFAULT FALSE,
    recipients   BIGINT NOT NULL DEFAULT 0,
    reason       TEXT,
    PRIMARY KEY (account_id, report_id, number),
    FOREIGN KEY (account_id, report_id) REFERENCES saved_report (account_id, id) ON DELETE CASCADE
);

-- The file of a run, which its mails attach. Kept for some days.
CREATE TABLE report_file (
    account_id BIGINT NOT NULL,
    report_id  BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    size       BIGINT NOT NULL,
    bytes      BYTEA   NOT NULL,
    created    BIGINT NOT NULL,
    PRIMARY KEY (account_id, report_id, number),
    FOREIGN KEY (account_id, report_id) REFERENCES saved_report (account_id, id) ON DELETE CASCADE
);
CREATE INDEX report_file_by_time ON report_file (created);
