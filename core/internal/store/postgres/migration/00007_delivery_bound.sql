-- +goose Up
-- As with events.
-- +goose StatementBegin
DO $$
DECLARE
    month CONSTANT BIGINT := 28::bigint * 86400000;
    bound CONSTANT BIGINT := ((floor(EXTRACT(EPOCH FROM now()) * 1000)::bigint / month + 2) * month) << 21;
BEGIN
    EXECUTE format('ALTER TABLE webhook_deliveries ADD CONSTRAINT first_part CHECK (id < %s) NOT VALID', bound);
END $$;
-- +goose StatementEnd
