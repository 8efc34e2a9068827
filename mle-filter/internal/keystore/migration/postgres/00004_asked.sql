-- +goose Up
-- When its merchant asked for another key in this one's place: only those rotations count among the ones that a merchant has in a day.
ALTER TABLE mle_keys ADD COLUMN asked_at BIGINT NOT NULL DEFAULT 0;
