-- +goose Up
-- Which core makes an attempt: what a dead one had leased is given to others. 0 is none, or a build's that did not say.
ALTER TABLE webhook_deliveries ADD COLUMN core_id BIGINT NOT NULL DEFAULT 0;
