-- What is known of the store's clock: one row. The last reading, the time by which age is measured when something is
-- deleted, how far the clock was ahead of that after its last step ahead (0 when nothing is in doubt), and how long the
-- service has run since.
CREATE TABLE store_clock (
    id       BIGINT  NOT NULL PRIMARY KEY CHECK (id = 1),
    seen     BIGINT  NOT NULL,
    believed BIGINT  NOT NULL,
    jump_ms  BIGINT  NOT NULL,
    run_ms   BIGINT  NOT NULL
);
