-- +goose Up
-- Counts the changes of the keys in the keyset, by which filters know that there are others. Encrypting it by another key-encryption key is none.
ALTER TABLE mle_keyset ADD COLUMN generation BIGINT NOT NULL DEFAULT 0;
