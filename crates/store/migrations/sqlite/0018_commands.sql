-- Commands to devices: queued until the device connects, and what became of them.

CREATE TABLE command (
    account_id INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    -- A JSON object.
    parameters TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('queued', 'sent', 'answered', 'failed', 'expired')),
    created_by INTEGER,
    creation   INTEGER NOT NULL,
    deadline   INTEGER NOT NULL,
    protocol   TEXT,
    sent_at    INTEGER,
    ended_at   INTEGER,
    answer     TEXT,
    error      TEXT,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, device_id) REFERENCES device (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX command_by_device ON command (account_id, device_id, id);
CREATE INDEX command_queued ON command (deadline) WHERE state = 'queued';
