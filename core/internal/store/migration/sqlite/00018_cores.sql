-- +goose Up
-- Which process works on what is open, where several share a store. A file has one, so it is 0 here.
ALTER TABLE transactions ADD COLUMN core_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE captures ADD COLUMN core_id INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refunds ADD COLUMN core_id INTEGER NOT NULL DEFAULT 0;
