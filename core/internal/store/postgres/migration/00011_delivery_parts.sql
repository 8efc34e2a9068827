-- +goose Up
-- As with events.
-- rolling: RENAME: there is a table of that name at every moment, and who knows nothing of parts reads and writes it as before
-- rolling: LOCK TABLE: for as long as a few entries of the catalogue take
-- rolling: CREATE INDEX: there is no row in the new table yet, and what is put into it has the same indexes
-- rolling: SEVERAL TABLES: one, and what becomes of it
-- +goose StatementBegin
DO $$
DECLARE
    bound TEXT;
BEGIN
    LOCK TABLE webhook_deliveries IN ACCESS EXCLUSIVE MODE;
    bound := substring(pg_get_constraintdef(oid) FROM '[0-9]{10,}') FROM pg_constraint
        WHERE conname = 'first_part' AND conrelid = 'webhook_deliveries'::regclass;
    ALTER TABLE webhook_deliveries RENAME TO webhook_deliveries_first;
    ALTER INDEX webhook_deliveries_pkey RENAME TO webhook_deliveries_first_pkey;
    ALTER INDEX webhook_deliveries_by_endpoint RENAME TO webhook_deliveries_first_by_endpoint;
    ALTER INDEX webhook_deliveries_due RENAME TO webhook_deliveries_first_due;
    CREATE TABLE webhook_deliveries (LIKE webhook_deliveries_first INCLUDING DEFAULTS INCLUDING CONSTRAINTS, PRIMARY KEY (id))
        PARTITION BY RANGE (id);
    ALTER TABLE webhook_deliveries DROP CONSTRAINT first_part;
    CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, id);
    CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE status = 'pending';
    EXECUTE format('ALTER TABLE webhook_deliveries ATTACH PARTITION webhook_deliveries_first FOR VALUES FROM (MINVALUE) TO (%s)', bound);
    ALTER TABLE webhook_deliveries_first DROP CONSTRAINT first_part;
    CREATE TABLE webhook_deliveries_rest PARTITION OF webhook_deliveries DEFAULT WITH (fillfactor = 70);
END $$;
-- +goose StatementEnd
