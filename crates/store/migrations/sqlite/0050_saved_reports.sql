-- Reports with a name, the schedules by which they are mailed, and their runs.

CREATE TABLE saved_report (
    account_id    INTEGER NOT NULL REFERENCES account (id),
    id            INTEGER NOT NULL,
    -- The user who created it. Null for the operator; the user may have been deleted since.
    owner_id      INTEGER,
    revision      INTEGER NOT NULL,
    -- Name, report and schedule, as JSON.
    settings      TEXT    NOT NULL,
    -- When the schedule is due or its attempt is repeated, or when the lease of the present attempt ends. Null without
    -- a schedule.
    due           INTEGER,
    -- The last local date that was done, as YYYY-MM-DD.
    done_on       TEXT,
    -- Grows with each claim and each change, so that an older worker cannot finish.
    token         INTEGER NOT NULL DEFAULT 0,
    creation      INTEGER NOT NULL,
    last_modified INTEGER NOT NULL,
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_report_by_due ON saved_report (due) WHERE due IS NOT NULL;

CREATE TABLE report_run (
    account_id   INTEGER NOT NULL,
    report_id    INTEGER NOT NULL,
    -- The local date as the number YYYYMMDD.
    number       INTEGER NOT NULL,
    scheduled_at INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    attempts     INTEGER NOT NULL,
    started      INTEGER NOT NULL,
    ended        INTEGER,
    row_count    INTEGER,
    size         INTEGER,
    attached     INTEGER NOT NULL DEFAULT 0 CHECK (attached IN (0, 1)),
    recipients   INTEGER NOT NULL DEFAULT 0,
    reason       TEXT,
    PRIMARY KEY (account_id, report_id, number),
    FOREIGN KEY (account_id, report_id) REFERENCES saved_report (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The file of a run, which its mails attach. Kept for some days.
CREATE TABLE report_file (
    account_id INTEGER NOT NULL,
    report_id  INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    size       INTEGER NOT NULL,
    bytes      BLOB    NOT NULL,
    created    INTEGER NOT NULL,
    PRIMARY KEY (account_id, report_id, number),
    FOREIGN KEY (account_id, report_id) REFERENCES saved_report (account_id, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX report_file_by_time ON report_file (created);
