-- +goose Up
-- What there is becomes the first part, and no row is looked at for it. What no part is for, for its time was not foreseen, goes to the rest.
-- rolling: RENAME: there is a table of that name at every moment, and who knows nothing of parts reads and writes it as before
-- rolling: LOCK TABLE: for as long as a few entries of the catalogue take
-- rolling: CREATE INDEX: there is no row in the new table yet, and what is put into it has the same indexes
-- rolling: SEVERAL TABLES: one, and what becomes of it
-- +goose StatementBegin
DO $$
DECLARE
    bound TEXT;
BEGIN
    LOCK TABLE events IN ACCESS EXCLUSIVE MODE;
    bound := substring(pg_get_constraintdef(oid) FROM '[0-9]{10,}') FROM pg_constraint
        WHERE conname = 'first_part' AND conrelid = 'events'::regclass;
    ALTER TABLE events RENAME TO events_first;
    ALTER INDEX events_pkey RENAME TO events_first_pkey;
    ALTER INDEX events_by_tenant RENAME TO events_first_by_tenant;
    CREATE TABLE events (LIKE events_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id))
        PARTITION BY RANGE (id);
    ALTER TABLE events DROP CONSTRAINT first_part;
    CREATE INDEX events_by_tenant ON events (merchant_id, live, place, id, object_id);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_first FOR VALUES FROM (MINVALUE) TO (%s)', bound);
    ALTER TABLE events_first DROP CONSTRAINT first_part;
    CREATE TABLE events_rest PARTITION OF events DEFAULT;
END $$;
-- +goose StatementEnd
