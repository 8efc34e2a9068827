-- +goose Up
-- goose gets all statements as one: it allocates 4 MB for each line that could end a statement.
-- +goose StatementBegin
-- The schema of the SQLite engine explains the tables and columns that both engines have. Flags are
-- 0 or 1, times milliseconds since 1970 (UTC), amounts minor units, details the JSON text of the
-- contract. Text in keys is compared by bytes ("C"), as SQLite does: both engines list rows in one
-- order under any locale.

-- The commit position of a database transaction: its number plus an offset. The offset is 0 until
-- the database is restored on a server with lower transaction numbers: see package postgres. Lists
-- are in the order of the positions of their rows, and end at the low-water mark.
CREATE FUNCTION commit_position(xid8) RETURNS BIGINT LANGUAGE sql IMMUTABLE AS 'SELECT $1::text::bigint + 0';

CREATE TABLE merchants (
    id               BIGINT   PRIMARY KEY,
    name             TEXT     NOT NULL,
    created_at       BIGINT   NOT NULL,
    time_zone        TEXT     NOT NULL DEFAULT 'UTC',
    cutoff           INTEGER  NOT NULL DEFAULT 0 CHECK (cutoff BETWEEN 0 AND 1439),
    unlinked_refunds SMALLINT NOT NULL DEFAULT 0 CHECK (unlinked_refunds IN (0, 1)),
    disabled_at      BIGINT   NOT NULL DEFAULT 0,
    keep_personal    INTEGER  CHECK (keep_personal BETWEEN 60 AND 36525),
    keep_customers   INTEGER  CHECK (keep_customers BETWEEN 60 AND 36525),
    position         BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX merchants_by_position ON merchants (position, id);

CREATE TABLE api_keys (
    id           BIGINT   PRIMARY KEY,
    merchant_id  BIGINT   NOT NULL REFERENCES merchants (id),
    live         SMALLINT NOT NULL CHECK (live IN (0, 1)),
    kind         TEXT     NOT NULL CHECK (kind IN ('secret', 'publishable')),
    name         TEXT     NOT NULL DEFAULT '',
    hash         BYTEA    NOT NULL UNIQUE,
    root_version BIGINT   NOT NULL, -- of the root secret under which it is hashed
    hint         TEXT     NOT NULL,
    scopes       TEXT     NOT NULL,
    addresses    TEXT     NOT NULL DEFAULT '', -- of the clients that may use it, '' for all
    origins      TEXT     NOT NULL DEFAULT '', -- of the web pages that may use it, '' for all
    created_at   BIGINT   NOT NULL,
    expires_at   BIGINT,
    replaced_by  BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT,
    position     BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX api_keys_by_tenant ON api_keys (merchant_id, live, id);
-- A merchant can have many ended keys. The command that creates a key counts the others.
CREATE INDEX api_keys_in_use ON api_keys (merchant_id, live) WHERE revoked_at IS NULL AND replaced_by IS NULL;

CREATE TABLE transactions (
    id                     BIGINT   PRIMARY KEY,
    merchant_id            BIGINT   NOT NULL,
    live                   SMALLINT NOT NULL CHECK (live IN (0, 1)),
    status                 TEXT     NOT NULL
        CHECK (status IN ('requires_confirmation', 'requires_action', 'pending_review', 'processing', 'unknown',
                          'authorized', 'partially_captured', 'captured', 'voided', 'canceled', 'declined',
                          'failed', 'expired')),
    auto_capture           SMALLINT NOT NULL CHECK (auto_capture IN (0, 1)),
    amount                 BIGINT   NOT NULL CHECK (amount BETWEEN 0 AND 999999999999),
    amount_changed         SMALLINT NOT NULL DEFAULT 0 CHECK (amount_changed IN (0, 1)),
    currency               TEXT     NOT NULL,
    payment_method         TEXT     NOT NULL,
    amount_authorized      BIGINT   NOT NULL DEFAULT 0 CHECK (amount_authorized BETWEEN 0 AND amount),
    amount_captured        BIGINT   NOT NULL DEFAULT 0 CHECK (amount_captured >= 0),
    amount_capture_pending BIGINT   NOT NULL DEFAULT 0 CHECK (amount_capture_pending >= 0),
    amount_settled         BIGINT   NOT NULL DEFAULT 0 CHECK (amount_settled BETWEEN 0 AND amount_captured),
    amount_refunded        BIGINT   NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    amount_refund_pending  BIGINT   NOT NULL DEFAULT 0 CHECK (amount_refund_pending >= 0),
    operation              TEXT     NOT NULL DEFAULT '' CHECK (operation IN ('', 'capture', 'void')),
    operation_id           BIGINT   NOT NULL DEFAULT 0,
    captures_begun         BIGINT   NOT NULL DEFAULT 0,
    details                TEXT     NOT NULL,
    result                 TEXT     NOT NULL DEFAULT '{}',
    version                BIGINT   NOT NULL DEFAULT 0,
    claim                  BIGINT   NOT NULL DEFAULT 0,
    core_id                BIGINT   NOT NULL DEFAULT 0, -- the core that works on it; 0 if that core is gone
    reclaimed_at           BIGINT   NOT NULL DEFAULT 0, -- when recovery reclaimed the unfinished step, or 0
    created_at             BIGINT   NOT NULL,
    updated_at             BIGINT   NOT NULL,
    expires_at             BIGINT   NOT NULL DEFAULT 0,
    attempt                BIGINT   NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    waiting_method         TEXT,
    waiting_details        TEXT,
    refused_confirmations  BIGINT   NOT NULL DEFAULT 0,
    declined_confirmations BIGINT   NOT NULL DEFAULT 0,
    api_key_id             BIGINT   NOT NULL DEFAULT 0,
    client_address         TEXT     NOT NULL DEFAULT '',
    confirm_api_key_id     BIGINT   NOT NULL DEFAULT 0,
    confirm_client_address TEXT     NOT NULL DEFAULT '',
    void_api_key_id        BIGINT   NOT NULL DEFAULT 0,
    void_client_address    TEXT     NOT NULL DEFAULT '',
    erased_at              BIGINT   NOT NULL DEFAULT 0,
    partial                SMALLINT NOT NULL DEFAULT 0 CHECK (partial IN (0, 1)),
    account                BIGINT   NOT NULL DEFAULT 0,
    tag                    TEXT     NOT NULL DEFAULT '',
    void_tag               TEXT     NOT NULL DEFAULT '',
    position               BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id()),
    CHECK (amount_captured + amount_capture_pending <= amount_authorized),
    CHECK (amount_refunded + amount_refund_pending <= amount_captured)
) WITH (fillfactor = 80); -- leaves room for a payment's one or two updates on its page
CREATE INDEX transactions_by_tenant ON transactions (merchant_id, live, position, id);
CREATE INDEX transactions_open ON transactions (merchant_id, live, id)
    WHERE status IN ('processing', 'unknown') OR operation = 'void';
CREATE INDEX transactions_expiring ON transactions (merchant_id, live, expires_at, id)
    WHERE expires_at > 0 AND status IN ('authorized', 'partially_captured');
CREATE INDEX transactions_waiting ON transactions (merchant_id, live, expires_at, id)
    WHERE status = 'requires_confirmation';

CREATE TABLE transaction_terms (
    merchant       BIGINT   NOT NULL,
    is_live        SMALLINT NOT NULL CHECK (is_live IN (0, 1)),
    kind           SMALLINT NOT NULL CHECK (kind IN (1, 2)),
    term           TEXT     COLLATE "C" NOT NULL,
    transaction_id BIGINT   NOT NULL,
    -- Of the transaction: a batch writes the terms in the database transaction of their payments.
    term_position  BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id()),
    PRIMARY KEY (merchant, is_live, kind, term, transaction_id)
);
CREATE INDEX transaction_terms_by_position
    ON transaction_terms (merchant, is_live, kind, term, term_position, transaction_id);

CREATE TABLE erasures (
    name    TEXT    COLLATE "C" NOT NULL,
    days    INTEGER NOT NULL,
    through BIGINT  NOT NULL,
    PRIMARY KEY (name, days)
);
CREATE TABLE delayed_erasures (
    name        TEXT     COLLATE "C" NOT NULL,
    id          BIGINT   NOT NULL,
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    due_at      BIGINT   NOT NULL,
    through     BIGINT   NOT NULL DEFAULT 0,
    PRIMARY KEY (name, id)
);
CREATE INDEX delayed_erasures_due ON delayed_erasures (name, due_at, id);
CREATE TABLE customer_erasures (
    customer_id BIGINT   PRIMARY KEY,
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    deleted_at  BIGINT   NOT NULL,
    due_at      BIGINT   NOT NULL,
    events_due_at BIGINT NOT NULL DEFAULT 0,
    unannounced SMALLINT NOT NULL DEFAULT 0 CHECK (unannounced IN (0, 1))
);
CREATE INDEX customer_erasures_due ON customer_erasures (merchant_id, live, due_at, customer_id);
CREATE INDEX customer_erasures_events_due ON customer_erasures (merchant_id, live, events_due_at, customer_id)
    WHERE events_due_at > 0;
CREATE INDEX customer_erasures_unannounced ON customer_erasures (customer_id) WHERE unannounced = 1;
CREATE TABLE erased_objects (
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    object_id   BIGINT   NOT NULL,
    erased_at   BIGINT   NOT NULL,
    PRIMARY KEY (merchant_id, live, object_id)
);

CREATE TABLE captures (
    id                    BIGINT   PRIMARY KEY,
    transaction_id        BIGINT   NOT NULL REFERENCES transactions (id),
    merchant_id           BIGINT   NOT NULL,
    live                  SMALLINT NOT NULL CHECK (live IN (0, 1)),
    state                 TEXT     NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'voided')),
    amount                BIGINT   NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency              TEXT     NOT NULL,
    final                 SMALLINT NOT NULL CHECK (final IN (0, 1)),
    settled               SMALLINT NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
    settlement_day        BIGINT   NOT NULL DEFAULT 0,
    details               TEXT     NOT NULL DEFAULT '{}',
    failure_code          TEXT     NOT NULL DEFAULT '',
    failure_message       TEXT     NOT NULL DEFAULT '',
    claim                 BIGINT   NOT NULL DEFAULT 0,
    core_id               BIGINT   NOT NULL DEFAULT 0,
    reclaimed_at          BIGINT   NOT NULL DEFAULT 0,
    created_at            BIGINT   NOT NULL,
    updated_at            BIGINT   NOT NULL,
    captured_at           BIGINT   NOT NULL DEFAULT 0,
    api_key_id            BIGINT   NOT NULL DEFAULT 0,
    client_address        TEXT     NOT NULL DEFAULT '',
    amount_refunded       BIGINT   NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    amount_refund_pending BIGINT   NOT NULL DEFAULT 0
        CHECK (amount_refund_pending >= 0 AND amount_refunded + amount_refund_pending <= amount),
    account               BIGINT   NOT NULL DEFAULT 0,
    tag                   TEXT     NOT NULL DEFAULT '',
    acquirer_id           TEXT     NOT NULL DEFAULT '',
    exception             TEXT     NOT NULL DEFAULT '' CHECK (exception IN ('', 'unreported', 'failed', 'not_settled')),
    exception_reason      TEXT     NOT NULL DEFAULT '',
    exception_at          BIGINT   NOT NULL DEFAULT 0,
    position              BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX captures_by_tenant ON captures (merchant_id, live, position, id);
CREATE INDEX captures_by_transaction ON captures (transaction_id, id);
CREATE INDEX captures_open ON captures (merchant_id, live, id) WHERE state = 'pending';
CREATE INDEX captures_unsettled ON captures (merchant_id, live, (CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END), id)
    WHERE settled = 0 AND state = 'succeeded';
CREATE INDEX captures_unreported ON captures (merchant_id, account, (CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END), id)
    WHERE live = 1 AND settled = 0 AND state = 'succeeded' AND exception <> 'not_settled';
CREATE INDEX captures_excepted ON captures (id)
    WHERE settled = 0 AND state = 'succeeded' AND exception <> '' AND exception <> 'not_settled';
CREATE INDEX captures_of_day ON captures (merchant_id, live, settlement_day, position, id, transaction_id)
    WHERE settlement_day > 0;

CREATE TABLE refunds (
    id              BIGINT   PRIMARY KEY,
    transaction_id  BIGINT   REFERENCES transactions (id),
    capture_id      BIGINT   NOT NULL DEFAULT 0,
    merchant_id     BIGINT   NOT NULL,
    live            SMALLINT NOT NULL CHECK (live IN (0, 1)),
    state           TEXT     NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed')),
    amount          BIGINT   NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency        TEXT     NOT NULL,
    details         TEXT     NOT NULL DEFAULT '{}',
    failure_code    TEXT     NOT NULL DEFAULT '',
    failure_message TEXT     NOT NULL DEFAULT '',
    claim           BIGINT   NOT NULL DEFAULT 0,
    core_id         BIGINT   NOT NULL DEFAULT 0,
    reclaimed_at    BIGINT   NOT NULL DEFAULT 0,
    created_at      BIGINT   NOT NULL,
    updated_at      BIGINT   NOT NULL,
    api_key_id      BIGINT   NOT NULL DEFAULT 0,
    client_address  TEXT     NOT NULL DEFAULT '',
    account         BIGINT   NOT NULL DEFAULT 0,
    tag             TEXT     NOT NULL DEFAULT '',
    acquirer_id     TEXT     NOT NULL DEFAULT '',
    settlement_day  BIGINT   NOT NULL DEFAULT 0,
    customer        TEXT     COLLATE "C" NOT NULL DEFAULT '',
    position        BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX refunds_by_tenant ON refunds (merchant_id, live, position, id);
CREATE INDEX refunds_by_transaction ON refunds (transaction_id, id);
CREATE INDEX refunds_open ON refunds (merchant_id, live, id) WHERE state = 'pending';
-- A list of unsettled refunds begins at the least position.
CREATE INDEX refunds_unsettled ON refunds (merchant_id, live, id, position) WHERE settlement_day = 0 AND state <> 'failed';
CREATE INDEX refunds_of_day ON refunds (merchant_id, live, settlement_day, position, id) WHERE settlement_day > 0;
CREATE INDEX refunds_of_customer ON refunds (merchant_id, live, customer, position, id) WHERE customer <> '';

CREATE TABLE settlement_totals (
    merchant_id     BIGINT   NOT NULL,
    live            SMALLINT NOT NULL CHECK (live IN (0, 1)),
    day_id          BIGINT   NOT NULL,
    currency        TEXT     NOT NULL,
    source          TEXT     NOT NULL,
    captures        BIGINT   NOT NULL,
    amount_captured BIGINT   NOT NULL,
    refunds         BIGINT   NOT NULL,
    amount_refunded BIGINT   NOT NULL,
    PRIMARY KEY (merchant_id, live, day_id, currency, source)
);

CREATE TABLE reversals (
    id             BIGINT   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind           TEXT     NOT NULL CHECK (kind IN ('authorize', 'capture', 'void', 'refund')),
    transaction_id BIGINT   NOT NULL,
    step_id        BIGINT   NOT NULL DEFAULT 0,
    attempt        BIGINT   NOT NULL DEFAULT 0,
    merchant_id    BIGINT   NOT NULL,
    live           SMALLINT NOT NULL CHECK (live IN (0, 1)),
    amount         BIGINT   NOT NULL CHECK (amount >= 0),
    currency       TEXT     NOT NULL,
    captured       SMALLINT NOT NULL CHECK (captured IN (0, 1)),
    held           BIGINT   NOT NULL DEFAULT 0 CHECK (held >= 0),
    requested      SMALLINT NOT NULL DEFAULT 0 CHECK (requested IN (0, 1)),
    asked          BIGINT   NOT NULL DEFAULT 0,
    refused        BIGINT   NOT NULL DEFAULT 0,
    looks          BIGINT   NOT NULL DEFAULT 0,
    version        BIGINT   NOT NULL DEFAULT 0,
    since          BIGINT   NOT NULL,
    due_at         BIGINT   NOT NULL,
    claim          BIGINT   NOT NULL DEFAULT 0,
    account        BIGINT   NOT NULL DEFAULT 0,
    tag            TEXT     NOT NULL DEFAULT '',
    acquirer_id    TEXT     NOT NULL DEFAULT '',
    last4          TEXT     NOT NULL DEFAULT '',
    release        TEXT     NOT NULL DEFAULT '',
    release_tag    TEXT     NOT NULL DEFAULT '',
    UNIQUE (kind, step_id, transaction_id, attempt)
);
CREATE INDEX reversals_by_tenant ON reversals (merchant_id, live, id);
CREATE INDEX reversals_by_transaction ON reversals (transaction_id);

CREATE TABLE attempts (
    transaction_id BIGINT NOT NULL,
    number         BIGINT NOT NULL,
    account        BIGINT NOT NULL,
    tag            TEXT   NOT NULL,
    class          TEXT   NOT NULL CHECK (class IN ('unavailable', 'declined', 'reversed')),
    PRIMARY KEY (transaction_id, number)
);

CREATE TABLE step_attempts (
    kind       TEXT     NOT NULL CHECK (kind IN ('authorize', 'void', 'capture', 'refund', 'reversal')),
    object_id  BIGINT   NOT NULL,
    number     BIGINT   NOT NULL,
    attempts   BIGINT   NOT NULL,
    running    SMALLINT NOT NULL CHECK (running IN (0, 1)),
    begun_at   BIGINT   NOT NULL,
    next_at    BIGINT   NOT NULL,
    last_error TEXT     NOT NULL,
    PRIMARY KEY (kind, object_id, number)
);

CREATE TABLE missing_operations (
    reference TEXT   NOT NULL,
    process   BIGINT NOT NULL,
    missing   BIGINT NOT NULL,
    looked    BIGINT NOT NULL,
    at        BIGINT NOT NULL,
    PRIMARY KEY (reference, process)
);

CREATE INDEX missing_operations_by_time ON missing_operations (at);

-- events and webhook_deliveries are partitioned by id, that is by time: retention drops whole
-- partitions. The first partition ends 28 to 56 days after the schema was created. The leader
-- creates further partitions in time. A row that no other partition covers goes to the default
-- partition, with a name that ends in _rest.
CREATE TABLE events (
    id          BIGINT   NOT NULL PRIMARY KEY,
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    type        TEXT     NOT NULL,
    object_id   BIGINT   NOT NULL,
    sequence    BIGINT   NOT NULL,
    data        TEXT     NOT NULL,
    created_at  BIGINT   NOT NULL,
    position    BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
) PARTITION BY RANGE (id);
CREATE INDEX events_by_tenant ON events (merchant_id, live, position, id, object_id);
CREATE INDEX events_of_customers ON events (object_id, id)
    WHERE substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.';
CREATE TABLE events_rest PARTITION OF events DEFAULT;

CREATE TABLE announcements (
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    type        TEXT     COLLATE "C" NOT NULL,
    name        TEXT     COLLATE "C" NOT NULL,
    event_id    BIGINT   NOT NULL,
    PRIMARY KEY (merchant_id, live, type, name)
);

CREATE TABLE idempotency_keys (
    id          BIGINT   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    merchant_id BIGINT   NOT NULL,
    live        SMALLINT NOT NULL CHECK (live IN (0, 1)),
    key         TEXT     NOT NULL,
    fingerprint BYTEA    NOT NULL,
    status      INTEGER  NOT NULL DEFAULT 0,
    body        BYTEA,
    created_at  BIGINT   NOT NULL,
    expires_at  BIGINT   NOT NULL,
    UNIQUE (merchant_id, live, key)
) WITH (fillfactor = 60); -- leaves room for the response, which is written later, on the same page

CREATE TABLE webhook_endpoints (
    id            BIGINT   PRIMARY KEY,
    merchant_id   BIGINT   NOT NULL,
    live          SMALLINT NOT NULL CHECK (live IN (0, 1)),
    url           TEXT     NOT NULL,
    types         TEXT     NOT NULL,
    details       TEXT     NOT NULL DEFAULT '{}',
    status        TEXT     NOT NULL CHECK (status IN ('enabled', 'disabled', 'deleted')),
    reason        TEXT     NOT NULL DEFAULT '' CHECK (reason IN ('', 'requested', 'gone', 'failing')),
    generation    BIGINT   NOT NULL DEFAULT 1 CHECK (generation >= 1),
    overlap_until BIGINT   NOT NULL DEFAULT 0,
    failing_since BIGINT   NOT NULL DEFAULT 0,
    version       BIGINT   NOT NULL DEFAULT 1,
    created_at    BIGINT   NOT NULL,
    updated_at    BIGINT   NOT NULL,
    position      BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX webhook_endpoints_by_tenant ON webhook_endpoints (merchant_id, live, id);
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (id) WHERE status = 'deleted';

CREATE TABLE webhook_deliveries (
    id              BIGINT   PRIMARY KEY,
    endpoint_id     BIGINT   NOT NULL,
    event_id        BIGINT   NOT NULL,
    status          TEXT     NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
    attempts        BIGINT   NOT NULL DEFAULT 0,
    leased          SMALLINT NOT NULL DEFAULT 0 CHECK (leased IN (0, 1)),
    core_id         BIGINT   NOT NULL DEFAULT 0, -- the core that holds the lease; leases of a dead core end at once
    due_at          BIGINT   NOT NULL,
    response_status INTEGER  NOT NULL DEFAULT 0,
    error           TEXT     NOT NULL DEFAULT '',
    duration_ms     BIGINT   NOT NULL DEFAULT 0,
    attempted_at    BIGINT   NOT NULL DEFAULT 0,
    created_at      BIGINT   NOT NULL,
    updated_at      BIGINT   NOT NULL,
    position        BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
) PARTITION BY RANGE (id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_by_position ON webhook_deliveries (endpoint_id, position, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE status = 'pending';
CREATE TABLE webhook_deliveries_rest PARTITION OF webhook_deliveries DEFAULT WITH (fillfactor = 70);

DO $$
DECLARE
    month CONSTANT BIGINT := 28::bigint * 86400000;
    bound CONSTANT BIGINT := ((floor(EXTRACT(EPOCH FROM now()) * 1000)::bigint / month + 2) * month) << 21;
BEGIN
    EXECUTE format('CREATE TABLE events_first PARTITION OF events FOR VALUES FROM (MINVALUE) TO (%s)', bound);
    EXECUTE format('CREATE TABLE webhook_deliveries_first PARTITION OF webhook_deliveries
        FOR VALUES FROM (MINVALUE) TO (%s) WITH (fillfactor = 70)', bound);
END $$;

CREATE TABLE vault_retired_keys (
    key        BIGINT PRIMARY KEY,
    retired_at BIGINT NOT NULL
);

CREATE TABLE tokens (
    id             BIGINT   PRIMARY KEY,
    merchant_id    BIGINT   NOT NULL,
    live           SMALLINT NOT NULL CHECK (live IN (0, 1)),
    kind           TEXT     NOT NULL CHECK (kind IN ('card', 'bank_account')),
    details        TEXT     NOT NULL,
    vault_key      BIGINT   NOT NULL,
    number         BYTEA,
    secret_hash    BYTEA    NOT NULL,
    cvc_given      SMALLINT NOT NULL CHECK (cvc_given IN (0, 1)),
    used_by        BIGINT   NOT NULL DEFAULT 0,
    used_at        BIGINT   NOT NULL DEFAULT 0,
    created_at     BIGINT   NOT NULL,
    expires_at     BIGINT   NOT NULL,
    api_key_id     BIGINT   NOT NULL DEFAULT 0,
    client_address TEXT     NOT NULL DEFAULT '',
    CHECK ((used_by = 0) = (used_at = 0))
);
CREATE INDEX tokens_sealed ON tokens (expires_at) WHERE number IS NOT NULL;
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

-- Security codes and their keys are unlogged: the write-ahead log, and so archives, standbys and
-- base backups, never hold them. They are empty after a crash or a failover, and the tokens that
-- had a code are then refused.
CREATE UNLOGGED TABLE code_keys (
    id        BIGINT PRIMARY KEY,
    hour      BIGINT NOT NULL, -- in which it seals, counted from 1970; destroyed two hours after the hour began
    vault_key BIGINT NOT NULL,
    sealed    BYTEA  NOT NULL
);
CREATE UNLOGGED TABLE security_codes (
    token_id BIGINT PRIMARY KEY,
    key_id   BIGINT NOT NULL,
    sealed   BYTEA  NOT NULL
);

CREATE TABLE customers (
    id                BIGINT   PRIMARY KEY,
    merchant_id       BIGINT   NOT NULL,
    live              SMALLINT NOT NULL CHECK (live IN (0, 1)),
    details           TEXT     NOT NULL,
    version           BIGINT   NOT NULL,
    created_at        BIGINT   NOT NULL,
    updated_at        BIGINT   NOT NULL,
    last_paid_at      BIGINT   NOT NULL DEFAULT 0,
    deleted_at        BIGINT   NOT NULL DEFAULT 0,
    default_method_id BIGINT   NOT NULL DEFAULT 0,
    api_key_id        BIGINT   NOT NULL DEFAULT 0,
    client_address    TEXT     NOT NULL DEFAULT '',
    position          BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id())
);
CREATE INDEX customers_by_tenant ON customers (merchant_id, live, id) WHERE deleted_at = 0;
CREATE INDEX customers_by_position ON customers (merchant_id, live, position, id) WHERE deleted_at = 0;
CREATE INDEX customers_by_reference ON customers (merchant_id, live, (details::jsonb #>> '{reference}'), position, id)
    WHERE deleted_at = 0 AND (details::jsonb #>> '{reference}') IS NOT NULL;
CREATE INDEX customers_by_email ON customers (merchant_id, live, (details::jsonb #>> '{email}'), position, id)
    WHERE deleted_at = 0 AND (details::jsonb #>> '{email}') IS NOT NULL;

CREATE TABLE payment_methods (
    id             BIGINT   PRIMARY KEY,
    merchant_id    BIGINT   NOT NULL,
    live           SMALLINT NOT NULL CHECK (live IN (0, 1)),
    customer_id    BIGINT   NOT NULL REFERENCES customers (id),
    kind           TEXT     NOT NULL CHECK (kind IN ('card', 'bank_account')),
    fingerprint    TEXT     NOT NULL,
    details        TEXT     NOT NULL,
    vault_key      BIGINT   NOT NULL,
    number         BYTEA,
    created_at     BIGINT   NOT NULL,
    detached_at    BIGINT   NOT NULL DEFAULT 0,
    api_key_id     BIGINT   NOT NULL DEFAULT 0,
    client_address TEXT     NOT NULL DEFAULT '',
    position       BIGINT   NOT NULL DEFAULT commit_position(pg_current_xact_id()),
    CHECK ((detached_at = 0) = (number IS NOT NULL))
);
CREATE INDEX payment_methods_by_customer ON payment_methods (customer_id, detached_at, id);

CREATE TABLE test_clocks (
    merchant_id BIGINT PRIMARY KEY,
    offset_ms   BIGINT NOT NULL CHECK (offset_ms >= 0)
);

CREATE TABLE store_probes (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    filler BYTEA   NOT NULL
);

-- The state of clock.Guard in milliseconds. With it, a clock that is wrong after a restart removes
-- no row too early.
CREATE TABLE confirmed_clock (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    at         BIGINT  NOT NULL,           -- the highest confirmed time
    behind     BIGINT  NOT NULL DEFAULT 0, -- how far the confirmed time is behind at
    step       BIGINT  NOT NULL DEFAULT 0, -- how far the clock stepped ahead without confirmation
    step_until BIGINT  NOT NULL DEFAULT 0, -- until when the step is not lowered, by at
    lag        BIGINT  NOT NULL DEFAULT 0, -- how much longer idempotency keys live than by the confirmed time
    lag_until  BIGINT  NOT NULL DEFAULT 0, -- when the lag ends, by at
    low_until  BIGINT  NOT NULL DEFAULT 0  -- when at is forgotten because the clock was set back, by at; 0 for never
);

CREATE TABLE broadcasts (
    type        TEXT   COLLATE "C" NOT NULL,
    name        TEXT   COLLATE "C" NOT NULL,
    data        BYTEA  NOT NULL,
    until       BIGINT NOT NULL,
    place       BIGINT NOT NULL DEFAULT 0,
    told        BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    finished_at BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (type, name)
);

CREATE TABLE broadcast_failures (
    type        TEXT   COLLATE "C" NOT NULL,
    name        TEXT   COLLATE "C" NOT NULL,
    merchant_id BIGINT NOT NULL,
    due_at      BIGINT NOT NULL,
    PRIMARY KEY (type, name, merchant_id)
);

-- The root secret and the vault's keyset, encrypted by the key-encryption key, which no database
-- contains.
CREATE TABLE secrets (
    name       TEXT   PRIMARY KEY,
    sealed     BYTEA  NOT NULL,
    changed_at BIGINT NOT NULL
);

-- The running cores with their heartbeats, and the leader. Work that must run once runs on the
-- leader.
CREATE TABLE cores (
    id   BIGINT PRIMARY KEY,
    beat BIGINT NOT NULL
);
CREATE TABLE lead (
    one         SMALLINT PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    core_id     BIGINT NOT NULL,
    until       BIGINT NOT NULL,
    at          BIGINT NOT NULL DEFAULT 0, -- the server's time of the leader's last heartbeat
    date_ahead  BIGINT NOT NULL DEFAULT 0, -- how far Date was ahead of it, because the server's clock was set back
    ahead_until BIGINT NOT NULL DEFAULT 0  -- when date_ahead is forgotten
);
INSERT INTO lead (core_id, until) VALUES (0, 0);

CREATE TABLE operators (
    id         BIGINT PRIMARY KEY,
    name       TEXT   NOT NULL,
    role       TEXT   NOT NULL CHECK (role IN ('operator', 'auditor', 'filter-identify')),
    hash       BYTEA  NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL DEFAULT 0,
    revoked_at BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE acquirer_accounts (
    id          BIGINT   PRIMARY KEY,
    merchant_id BIGINT   NOT NULL,
    currency    TEXT     NOT NULL,
    method      TEXT     NOT NULL CHECK (method IN ('card', 'bank_account')),
    rank        SMALLINT NOT NULL CHECK (rank IN (1, 2)),
    kind        TEXT     NOT NULL,
    profile     TEXT     NOT NULL,
    vault_key   BIGINT   NOT NULL,
    credentials BYTEA    NOT NULL,
    state       TEXT     NOT NULL CHECK (state IN ('enabled', 'disabled')),
    version     BIGINT   NOT NULL,
    created_at  BIGINT   NOT NULL,
    updated_at  BIGINT   NOT NULL,
    rotated_at  BIGINT   NOT NULL
);
CREATE UNIQUE INDEX acquirer_accounts_enabled ON acquirer_accounts (merchant_id, currency, method, rank)
    WHERE state = 'enabled';

CREATE TABLE card_attempts (
    merchant_id    BIGINT   NOT NULL,
    fingerprint    TEXT     NOT NULL,
    transaction_id BIGINT   NOT NULL,
    attempt        BIGINT   NOT NULL,
    account        BIGINT   NOT NULL,
    at             BIGINT   NOT NULL,
    never          SMALLINT NOT NULL DEFAULT 0,
    PRIMARY KEY (merchant_id, fingerprint, transaction_id, attempt, account)
);
CREATE INDEX card_attempts_by_time ON card_attempts (at);

CREATE TABLE mle_requirements (
    id           BIGINT PRIMARY KEY,
    endpoints    TEXT   NOT NULL,
    announced_at BIGINT NOT NULL,
    effective_at BIGINT NOT NULL CHECK (effective_at >= announced_at + 31622400000),
    withdrawn_at BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE audit_records (
    sequence       BIGINT PRIMARY KEY,
    at             BIGINT NOT NULL,
    actor          TEXT   NOT NULL,
    client_address TEXT   NOT NULL,
    action         TEXT   NOT NULL,
    object         TEXT   NOT NULL,
    state_before   TEXT   NOT NULL,
    state_after    TEXT   NOT NULL,
    outcome        TEXT   NOT NULL,
    request_id     TEXT   NOT NULL,
    previous       BYTEA  NOT NULL,
    mac            BYTEA  NOT NULL
);
CREATE FUNCTION audit_records_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.at <= (SELECT at FROM audit_records ORDER BY sequence DESC LIMIT 1) - 31536000000 THEN
            RETURN OLD;
        END IF;
        RAISE EXCEPTION 'audit records are kept for 365 days';
    END IF;
    RAISE EXCEPTION 'audit records cannot be changed';
END;
$$;
CREATE TRIGGER audit_records_kept BEFORE UPDATE OR DELETE ON audit_records
    FOR EACH ROW EXECUTE FUNCTION audit_records_kept();
CREATE TRIGGER audit_records_whole BEFORE TRUNCATE ON audit_records
    FOR EACH STATEMENT EXECUTE FUNCTION audit_records_kept();

-- The commit positions of removed rows, so that a client can page on from the last row that it has
-- read. A row is kept for 60 days by its id, and longer if few rows are removed: each removal
-- removes up to two rows that are older.
CREATE TABLE removed_positions (
    source   TEXT   COLLATE "C" NOT NULL, -- the table
    id       BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (source, id)
);
CREATE FUNCTION keep_position() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM removed_positions WHERE source = TG_TABLE_NAME AND id IN (
        SELECT id FROM removed_positions WHERE source = TG_TABLE_NAME AND id < OLD.id - 60 * 181193932800000
        ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED);
    INSERT INTO removed_positions VALUES (TG_TABLE_NAME, OLD.id, OLD.position)
        ON CONFLICT (source, id) DO UPDATE SET position = excluded.position;
    RETURN NULL;
END;
$$;
CREATE TRIGGER keep_position AFTER DELETE ON transactions FOR EACH ROW EXECUTE FUNCTION keep_position();
CREATE TRIGGER keep_position AFTER DELETE ON webhook_endpoints FOR EACH ROW EXECUTE FUNCTION keep_position();

-- Fails the statement of a batch whose payments cannot be written together. Each is then written
-- alone.
CREATE FUNCTION refuse_batch(reason TEXT) RETURNS INTEGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', reason USING ERRCODE = 'CW001';
END;
$$;
-- +goose StatementEnd
