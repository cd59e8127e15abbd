-- Plans of maintenance of devices, and records of what was done.

-- Settings as JSON. The sums of the timeline since the cycle began: up to kept_to, before which segments may have been
-- deleted because their retention ended, and up to summed_to, so that few segments are added up each time. The most serious
-- alert of the cycle, and the alerts. When the plan is examined next: seconds after its timeline changed, or when its state
-- changes by the calendar.
CREATE TABLE maintenance_plan (
    account_id      INTEGER NOT NULL,
    id              INTEGER NOT NULL,
    device_id       INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    settings        TEXT    NOT NULL,
    cycle           INTEGER NOT NULL,
    kept_to         INTEGER NOT NULL,
    kept_m          INTEGER NOT NULL,
    kept_engine_s   INTEGER NOT NULL,
    summed_to       INTEGER NOT NULL,
    summed_m        INTEGER NOT NULL,
    summed_engine_s INTEGER NOT NULL,
    announced       TEXT    NOT NULL,
    soon_alert_id   INTEGER,
    due_alert_id    INTEGER,
    evaluate_at     INTEGER,
    creation        INTEGER NOT NULL,
    last_modified   INTEGER NOT NULL,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_plan_by_device ON maintenance_plan (account_id, device_id);
CREATE INDEX maintenance_plan_by_time ON maintenance_plan (evaluate_at, account_id) WHERE evaluate_at IS NOT NULL;

-- Finished cycles of plans, as JSON.
CREATE TABLE maintenance_record (
    account_id INTEGER NOT NULL,
    plan_id    INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    document   TEXT    NOT NULL,
    PRIMARY KEY (account_id, plan_id, id),
    FOREIGN KEY (account_id, plan_id) REFERENCES maintenance_plan (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
