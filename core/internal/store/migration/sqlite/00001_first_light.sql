-- +goose Up
CREATE TABLE merchants (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL REFERENCES merchants (id),
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    kind        TEXT    NOT NULL CHECK (kind IN ('secret', 'publishable')),
    hash        BLOB    NOT NULL UNIQUE,
    hint        TEXT    NOT NULL,
    scopes      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER
) STRICT;

CREATE TABLE transactions (
    id                     INTEGER PRIMARY KEY,
    merchant_id            INTEGER NOT NULL,
    live                   INTEGER NOT NULL CHECK (live IN (0, 1)),
    status                 TEXT    NOT NULL CHECK (status IN ('requires_confirmation', 'requires_action', 'pending_review', 'processing',
                                                              'unknown', 'authorized', 'partially_captured', 'captured', 'voided',
                                                              'canceled', 'declined', 'failed', 'expired')),
    auto_capture           INTEGER NOT NULL CHECK (auto_capture IN (0, 1)),
    amount                 INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 999999999999),
    currency               TEXT    NOT NULL,
    payment_method         TEXT    NOT NULL,
    amount_authorized      INTEGER NOT NULL DEFAULT 0 CHECK (amount_authorized BETWEEN 0 AND amount),
    amount_captured        INTEGER NOT NULL DEFAULT 0 CHECK (amount_captured >= 0),
    amount_capture_pending INTEGER NOT NULL DEFAULT 0 CHECK (amount_capture_pending >= 0),
    amount_settled         INTEGER NOT NULL DEFAULT 0 CHECK (amount_settled BETWEEN 0 AND amount_captured),
    amount_refunded        INTEGER NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    amount_refund_pending  INTEGER NOT NULL DEFAULT 0 CHECK (amount_refund_pending >= 0),
    operation              TEXT    NOT NULL DEFAULT '' CHECK (operation IN ('', 'capture', 'void')),
    operation_id           INTEGER NOT NULL DEFAULT 0,
    details                TEXT    NOT NULL,
    result                 TEXT    NOT NULL DEFAULT '{}',
    version                INTEGER NOT NULL DEFAULT 0,
    claim                  INTEGER NOT NULL DEFAULT 0,
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    CHECK (amount_captured + amount_capture_pending <= amount_authorized),
    CHECK (amount_refunded + amount_refund_pending <= amount_captured)
) STRICT;
CREATE INDEX transactions_by_tenant ON transactions (merchant_id, live, id);
CREATE INDEX transactions_open ON transactions (id)
    WHERE status IN ('processing', 'unknown') OR operation <> '';

CREATE TABLE captures (
    id              INTEGER PRIMARY KEY,
    transaction_id  INTEGER NOT NULL REFERENCES transactions (id),
    merchant_id     INTEGER NOT NULL,
    live            INTEGER NOT NULL CHECK (live IN (0, 1)),
    state           TEXT    NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'voided')),
    amount          INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency        TEXT    NOT NULL,
    final           INTEGER NOT NULL CHECK (final IN (0, 1)),
    settled         INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
    details         TEXT    NOT NULL DEFAULT '{}',
    failure_code    TEXT    NOT NULL DEFAULT '',
    failure_message TEXT    NOT NULL DEFAULT '',
    claim           INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX captures_by_transaction ON captures (transaction_id, id);
CREATE INDEX captures_open ON captures (id) WHERE state = 'pending';

CREATE TABLE refunds (
    id              INTEGER PRIMARY KEY,
    transaction_id  INTEGER NOT NULL REFERENCES transactions (id),
    merchant_id     INTEGER NOT NULL,
    live            INTEGER NOT NULL CHECK (live IN (0, 1)),
    state           TEXT    NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    amount          INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency        TEXT    NOT NULL,
    details         TEXT    NOT NULL DEFAULT '{}',
    failure_code    TEXT    NOT NULL DEFAULT '',
    failure_message TEXT    NOT NULL DEFAULT '',
    claim           INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX refunds_by_tenant ON refunds (merchant_id, live, id);
CREATE INDEX refunds_by_transaction ON refunds (transaction_id, id);
CREATE INDEX refunds_open ON refunds (id) WHERE state = 'pending';

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    type        TEXT    NOT NULL,
    object_id   INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    data        TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    status      INTEGER NOT NULL DEFAULT 0, -- 0 while the request runs, then the HTTP status of the stored answer
    answer      BLOB,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idempotency_keys_by_key ON idempotency_keys (merchant_id, live, key);
