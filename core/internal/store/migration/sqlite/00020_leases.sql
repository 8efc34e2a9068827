-- +goose Up
-- Which process makes an attempt, where several share a store. Here it is always 0: a store in a file has one.
ALTER TABLE webhook_deliveries ADD COLUMN core_id INTEGER NOT NULL DEFAULT 0;
