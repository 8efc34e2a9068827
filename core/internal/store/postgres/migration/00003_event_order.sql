-- +goose Up
-- Commands commit side by side, so an event with a lower id may be seen after one with a higher id. Its place is the number of its transaction:
-- whatever is seen later has a place that was not yet over before, so a list up to the oldest transaction that runs misses nothing.
ALTER TABLE events ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
DROP INDEX events_by_tenant;
CREATE INDEX events_by_tenant ON events (merchant_id, live, place, id, object_id);
