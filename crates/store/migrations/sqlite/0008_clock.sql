-- What is known of the store's clock: one row. The last reading, the time by which age is measured when something is
-- deleted, how far the clock was ahead of that after its last step ahead (0 when nothing is in doubt), and how long the
-- service has run since.
CREATE TABLE store_clock (
    id       INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    seen     INTEGER NOT NULL,
    believed INTEGER NOT NULL,
    jump_ms  INTEGER NOT NULL,
    run_ms   INTEGER NOT NULL
) STRICT;
