-- +goose Up
-- What was sealed by a key of the vault says by which one, so that a rotation finds what is left to do.
CREATE TABLE vault_retired_keys (
    key        INTEGER PRIMARY KEY, -- nothing is written under it any more
    retired_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    kind        TEXT    NOT NULL CHECK (kind IN ('card', 'bank_account')),
    details     TEXT    NOT NULL,
    vault_key   INTEGER NOT NULL,
    number      BLOB,             -- sealed; gone once the token has expired
    cvc         BLOB,             -- sealed; gone with the first use, at the latest when the token has expired
    cvc_given   INTEGER NOT NULL CHECK (cvc_given IN (0, 1)),
    used_by     INTEGER NOT NULL DEFAULT 0,
    used_at     INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    CHECK ((used_by = 0) = (used_at = 0)),
    CHECK (used_by = 0 OR cvc IS NULL)
) STRICT;
CREATE INDEX tokens_sealed ON tokens (expires_at) WHERE number IS NOT NULL OR cvc IS NOT NULL;
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

CREATE TABLE customers (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    details     TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    deleted_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX customers_by_tenant ON customers (merchant_id, live, id) WHERE deleted_at = 0;

CREATE TABLE payment_methods (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    kind        TEXT    NOT NULL CHECK (kind IN ('card', 'bank_account')),
    fingerprint TEXT    NOT NULL,
    details     TEXT    NOT NULL,
    vault_key   INTEGER NOT NULL,
    number      BLOB,             -- sealed; gone once it is detached
    created_at  INTEGER NOT NULL,
    detached_at INTEGER NOT NULL DEFAULT 0,
    CHECK ((detached_at = 0) = (number IS NOT NULL))
) STRICT;
CREATE INDEX payment_methods_by_customer ON payment_methods (customer_id, id) WHERE detached_at = 0;
