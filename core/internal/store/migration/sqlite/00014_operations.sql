-- +goose Up
-- When an operator took the merchant out of service, 0 while it is in service.
ALTER TABLE merchants ADD COLUMN disabled_at INTEGER NOT NULL DEFAULT 0;

-- The one row that a health check writes, as large as what a payment writes, to find out whether the store takes it.
CREATE TABLE store_probes (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    filler BLOB NOT NULL
) STRICT;
