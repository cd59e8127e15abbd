-- A stand-in for Citus: its two functions, which record what they are called with, and refuse what Citus refuses.

CREATE TABLE pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod TEXT NOT NULL, partkey TEXT);

CREATE FUNCTION check_layout(changed regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own TEXT := (SELECT partmethod FROM pg_dist_partition WHERE logicalrelid = changed);
    key TEXT := (SELECT partkey FROM pg_dist_partition WHERE logicalrelid = changed);
    found RECORD;
BEGIN
    IF EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = changed AND NOT tgisinternal) THEN
        RAISE EXCEPTION 'cannot distribute relation "%" because it has triggers', changed;
    END IF;
    IF own = 'h' AND NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = changed AND attname = key) THEN
        RAISE EXCEPTION 'column "%" of relation "%" does not exist', key, changed;
    END IF;
    FOR found IN SELECT i.indexrelid::regclass AS name FROM pg_index i
        WHERE own = 'h' AND i.indrelid = changed AND i.indisunique AND NOT EXISTS (
            SELECT 1 FROM pg_attribute a WHERE a.attrelid = changed AND a.attname = key
            AND a.attnum = ANY (i.indkey::int2[]))
    LOOP
        RAISE EXCEPTION 'cannot create constraint on "%": % does not contain the distribution column', changed, found.name;
    END LOOP;
    FOR found IN SELECT c.conname, c.confrelid::regclass AS other, d.partmethod,
            EXISTS (SELECT 1 FROM generate_subscripts(c.conkey, 1) k
                JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[k] AND a.attname = key
                JOIN pg_attribute b ON b.attrelid = c.confrelid AND b.attnum = c.confkey[k] AND b.attname = d.partkey)
            AS is_within
        FROM pg_constraint c LEFT JOIN pg_dist_partition d ON d.logicalrelid = c.confrelid
        WHERE c.contype = 'f' AND c.conrelid = changed
    LOOP
        IF found.partmethod IS NULL AND found.other <> changed THEN
            RAISE EXCEPTION 'cannot create foreign key constraint %: referenced table "%" must be distributed first',
                found.conname, found.other;
        ELSIF found.partmethod = 'h' AND own = 'n' THEN
            RAISE EXCEPTION 'cannot create foreign key constraint % from a reference table to "%"', found.conname, found.other;
        ELSIF found.partmethod = 'h' AND NOT found.is_within THEN
            RAISE EXCEPTION 'cannot create foreign key constraint %: it does not contain the distribution column', found.conname;
        END IF;
    END LOOP;
END $$;

CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pg_dist_partition VALUES (table_name, 'n', NULL);
    PERFORM check_layout(table_name);
END $$;

CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column TEXT, distribution_type TEXT DEFAULT 'hash')
    RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO pg_dist_partition VALUES (table_name, 'h', distribution_column);
    PERFORM check_layout(table_name);
END $$;
