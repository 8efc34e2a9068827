-- +goose Up
-- Tables that grow without end are kept in parts by time, which is by id: ids are drawn in the order of time. What there is becomes the first part.
-- This step and the next prepare for that, so that nobody waits for a look at every row: a bound that all ids are below, and all that come until the
-- third step. It is 28 to 56 days ahead: so late, at the latest, the migration has to be ended that was begun.
-- +goose StatementBegin
DO $$
DECLARE
    month CONSTANT BIGINT := 28::bigint * 86400000;
    bound CONSTANT BIGINT := ((floor(EXTRACT(EPOCH FROM now()) * 1000)::bigint / month + 2) * month) << 21;
BEGIN
    EXECUTE format('ALTER TABLE events ADD CONSTRAINT first_part CHECK (id < %s) NOT VALID', bound);
END $$;
-- +goose StatementEnd
