-- +goose Up
-- goose gets all statements as one: it allocates 4 MB for each line that could end a statement.
-- +goose StatementBegin
-- Ids are 63-bit and time-ordered, times are milliseconds since 1970 (UTC), amounts are minor
-- units, flags are 0 or 1. A column "details" holds the JSON text of the object as the contract
-- shows it.
--
-- The columns api_key_id and client_address name the client whose request created the row. They are
-- 0 and '' if there was no key or no address. Background work does not change them.
--
-- A CHECK with IN (...) over three values or more makes SQLite build an index for every row
-- written, a third of the cost of a payment. The hot tables spell such a rule with OR, the most
-- frequent state first.

CREATE TABLE merchants (
    id               INTEGER PRIMARY KEY,
    name             TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    -- The settlement day ends "cutoff" minutes after local midnight in this IANA time zone.
    time_zone        TEXT    NOT NULL DEFAULT 'UTC',
    cutoff           INTEGER NOT NULL DEFAULT 0 CHECK (cutoff BETWEEN 0 AND 1439),
    unlinked_refunds INTEGER NOT NULL DEFAULT 0 CHECK (unlinked_refunds IN (0, 1)),
    disabled_at      INTEGER NOT NULL DEFAULT 0, -- 0 while the merchant is in service
    -- The days after which personal data of payments, and inactive customers, are erased. NULL: the
    -- period of the service.
    keep_personal    INTEGER CHECK (keep_personal BETWEEN 60 AND 36525),
    keep_customers   INTEGER CHECK (keep_customers BETWEEN 60 AND 36525)
) STRICT;

CREATE TABLE api_keys (
    id           INTEGER PRIMARY KEY,
    merchant_id  INTEGER NOT NULL REFERENCES merchants (id),
    live         INTEGER NOT NULL CHECK (live IN (0, 1)),
    kind         TEXT    NOT NULL CHECK (kind IN ('secret', 'publishable')),
    name         TEXT    NOT NULL DEFAULT '',
    hash         BLOB    NOT NULL UNIQUE,
    root_version INTEGER NOT NULL, -- of the root secret under which it is hashed
    hint         TEXT    NOT NULL,
    scopes       TEXT    NOT NULL,
    addresses    TEXT    NOT NULL DEFAULT '', -- of the clients that may use it, '' for all
    origins      TEXT    NOT NULL DEFAULT '', -- of the web pages that may use it, '' for all
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    replaced_by  INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_tenant ON api_keys (merchant_id, live, id);
-- A merchant can have many ended keys. The command that creates a key counts the others.
CREATE INDEX api_keys_in_use ON api_keys (merchant_id, live) WHERE revoked_at IS NULL AND replaced_by IS NULL;

CREATE TABLE transactions (
    id                     INTEGER PRIMARY KEY,
    merchant_id            INTEGER NOT NULL,
    live                   INTEGER NOT NULL CHECK (live IN (0, 1)),
    status                 TEXT    NOT NULL CHECK (status = 'processing' OR status = 'captured' OR status = 'authorized'
                                                   OR status = 'declined' OR status = 'unknown'
                                                   OR status = 'partially_captured' OR status = 'voided'
                                                   OR status = 'expired' OR status = 'requires_confirmation'
                                                   OR status = 'canceled' OR status = 'failed'
                                                   OR status = 'requires_action' OR status = 'pending_review'),
    auto_capture           INTEGER NOT NULL CHECK (auto_capture IN (0, 1)),
    partial                INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1)), -- a smaller approval is accepted
    amount                 INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 999999999999),
    amount_changed         INTEGER NOT NULL DEFAULT 0 CHECK (amount_changed IN (0, 1)), -- after the creation
    currency               TEXT    NOT NULL,
    payment_method         TEXT    NOT NULL,
    amount_authorized      INTEGER NOT NULL DEFAULT 0 CHECK (amount_authorized BETWEEN 0 AND amount),
    amount_captured        INTEGER NOT NULL DEFAULT 0 CHECK (amount_captured >= 0),
    amount_capture_pending INTEGER NOT NULL DEFAULT 0 CHECK (amount_capture_pending >= 0),
    amount_settled         INTEGER NOT NULL DEFAULT 0 CHECK (amount_settled BETWEEN 0 AND amount_captured),
    amount_refunded        INTEGER NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    amount_refund_pending  INTEGER NOT NULL DEFAULT 0 CHECK (amount_refund_pending >= 0),
    operation              TEXT    NOT NULL DEFAULT '' CHECK (operation = '' OR operation = 'capture'
                                                              OR operation = 'void'),
    operation_id           INTEGER NOT NULL DEFAULT 0,
    -- The captures that were begun, except captures that never reached the acquirer. The capture of
    -- a sale does not count: it is the only one.
    captures_begun         INTEGER NOT NULL DEFAULT 0,
    details                TEXT    NOT NULL,
    result                 TEXT    NOT NULL DEFAULT '{}',
    version                INTEGER NOT NULL DEFAULT 0,
    claim                  INTEGER NOT NULL DEFAULT 0,
    core_id                INTEGER NOT NULL DEFAULT 0, -- the process that works on it; always 0 in a file
    reclaimed_at           INTEGER NOT NULL DEFAULT 0, -- when recovery reclaimed the unfinished step, or 0
    created_at             INTEGER NOT NULL,
    updated_at             INTEGER NOT NULL,
    expires_at             INTEGER NOT NULL DEFAULT 0, -- of an uncaptured or unconfirmed payment; 0 for never
    -- The number of the confirmation that runs or comes next, from 1; 0 if the create confirmed the
    -- payment. The acquirer reference contains it: a reversed attempt cannot be mistaken for the
    -- next one.
    attempt                INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    waiting_method         TEXT,                       -- payment_method before the confirmation
    waiting_details        TEXT,                       -- details before the confirmation
    -- The confirmations by publishable keys that were refused because of their payment source.
    refused_confirmations  INTEGER NOT NULL DEFAULT 0,
    declined_confirmations INTEGER NOT NULL DEFAULT 0, -- after each of them, the payment waited again
    api_key_id             INTEGER NOT NULL DEFAULT 0,
    client_address         TEXT    NOT NULL DEFAULT '',
    -- The clients of the last confirmation and of the last void or cancelation.
    confirm_api_key_id     INTEGER NOT NULL DEFAULT 0,
    confirm_client_address TEXT    NOT NULL DEFAULT '',
    void_api_key_id        INTEGER NOT NULL DEFAULT 0,
    void_client_address    TEXT    NOT NULL DEFAULT '',
    erased_at              INTEGER NOT NULL DEFAULT 0, -- when its personal data was erased; 0: not yet
    -- The acquirer account of the authorization, and of all later steps. 0: the simulator.
    account                INTEGER NOT NULL DEFAULT 0,
    tag                    TEXT    NOT NULL DEFAULT '', -- of the authorization, from the acquirer
    -- Of the void in progress, or of the release of an unwanted partial approval.
    void_tag               TEXT    NOT NULL DEFAULT '',
    CHECK (amount_captured + amount_capture_pending <= amount_authorized),
    CHECK (amount_refunded + amount_refund_pending <= amount_captured)
) STRICT;
CREATE INDEX transactions_by_tenant ON transactions (merchant_id, live, id);
-- Recovery reads the indexes of unfinished steps tenant by tenant.
CREATE INDEX transactions_open ON transactions (merchant_id, live, id)
    WHERE status IN ('processing', 'unknown') OR operation = 'void';
-- A payment that is captured at once is never in these partial indexes.
CREATE INDEX transactions_expiring ON transactions (merchant_id, live, expires_at)
    WHERE expires_at > 0 AND status IN ('authorized', 'partially_captured');
CREATE INDEX transactions_waiting ON transactions (merchant_id, live, expires_at)
    WHERE status = 'requires_confirmation';

-- The transactions that name a customer or a merchant's reference. A row may outlive its
-- transaction.
CREATE TABLE transaction_terms (
    merchant       INTEGER NOT NULL,
    is_live        INTEGER NOT NULL CHECK (is_live IN (0, 1)),
    kind           INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 customer, 2 reference
    term           TEXT    NOT NULL,
    transaction_id INTEGER NOT NULL,
    PRIMARY KEY (merchant, is_live, kind, term, transaction_id)
) STRICT, WITHOUT ROWID;

-- The progress of the erasure of personal data, by the kind of rows and the period of their
-- merchants. If a merchant changes its period, all rows are checked again.
CREATE TABLE erasures (
    name    TEXT    NOT NULL,
    days    INTEGER NOT NULL,
    through INTEGER NOT NULL, -- id of the last row
    PRIMARY KEY (name, days)
) STRICT, WITHOUT ROWID;

-- Rows whose erasure is postponed because it failed. For a transaction also because it was
-- unfinished, or because a capture or refund was added after its erasure. The name payment_parts is
-- for an erased transaction with many captures and refunds, of which some are not yet erased.
CREATE TABLE delayed_erasures (
    name        TEXT    NOT NULL, -- of the table
    id          INTEGER NOT NULL,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    due_at      INTEGER NOT NULL,
    through     INTEGER NOT NULL DEFAULT 0, -- payment_parts: the last erased capture or refund
    PRIMARY KEY (name, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX delayed_erasures_due ON delayed_erasures (name, due_at, id);

-- Deleted customers with transactions or events that are not yet erased.
CREATE TABLE customer_erasures (
    customer_id INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    deleted_at  INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    events_due_at INTEGER NOT NULL DEFAULT 0, -- 0 if the customer's events are erased
    unannounced INTEGER NOT NULL DEFAULT 0 CHECK (unannounced IN (0, 1)) -- 1 until the events of the deletion are written
) STRICT;
CREATE INDEX customer_erasures_due ON customer_erasures (merchant_id, live, due_at);
CREATE INDEX customer_erasures_events_due ON customer_erasures (merchant_id, live, events_due_at)
    WHERE events_due_at > 0;
CREATE INDEX customer_erasures_unannounced ON customer_erasures (customer_id) WHERE unannounced = 1;

-- Erased transactions, captures and refunds whose events are not yet erased.
CREATE TABLE erased_objects (
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    object_id   INTEGER NOT NULL,
    erased_at   INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, live, object_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE captures (
    id                    INTEGER PRIMARY KEY,
    transaction_id        INTEGER NOT NULL REFERENCES transactions (id),
    merchant_id           INTEGER NOT NULL,
    live                  INTEGER NOT NULL CHECK (live IN (0, 1)),
    state                 TEXT    NOT NULL CHECK (state = 'succeeded' OR state = 'pending' OR state = 'failed'
                                                  OR state = 'voided'),
    amount                INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency              TEXT    NOT NULL,
    final                 INTEGER NOT NULL CHECK (final IN (0, 1)),
    settled               INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)),
    settlement_day        INTEGER NOT NULL DEFAULT 0, -- id of the day; 0 while unsettled
    details               TEXT    NOT NULL DEFAULT '{}',
    failure_code          TEXT    NOT NULL DEFAULT '',
    failure_message       TEXT    NOT NULL DEFAULT '',
    claim                 INTEGER NOT NULL DEFAULT 0,
    core_id               INTEGER NOT NULL DEFAULT 0,
    reclaimed_at          INTEGER NOT NULL DEFAULT 0,
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    captured_at           INTEGER NOT NULL DEFAULT 0, -- 0 if equal to created_at; a time in the future is corrected
    api_key_id            INTEGER NOT NULL DEFAULT 0, -- for a sale, as in the authorization
    client_address        TEXT    NOT NULL DEFAULT '',
    amount_refunded       INTEGER NOT NULL DEFAULT 0 CHECK (amount_refunded >= 0),
    amount_refund_pending INTEGER NOT NULL DEFAULT 0
        CHECK (amount_refund_pending >= 0 AND amount_refunded + amount_refund_pending <= amount),
    account               INTEGER NOT NULL DEFAULT 0, -- of the transaction
    tag                   TEXT    NOT NULL DEFAULT '', -- from the acquirer; '' for a sale
    acquirer_id           TEXT    NOT NULL DEFAULT '', -- the acquirer's id of the capture; '' for none
    -- In live mode: no report of its settlement came, or a failed one, and what an operator decided.
    exception             TEXT    NOT NULL DEFAULT '' CHECK (exception = '' OR exception = 'unreported' OR exception = 'failed'
                                                             OR exception = 'not_settled'),
    exception_reason      TEXT    NOT NULL DEFAULT '', -- the acquirer's word
    exception_at          INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX captures_by_tenant ON captures (merchant_id, live, id);
CREATE INDEX captures_by_transaction ON captures (transaction_id, id);
CREATE INDEX captures_open ON captures (merchant_id, live, id) WHERE state = 'pending';
-- Settlement finds its work by the unsettled captures alone, whatever clock wrote them.
CREATE INDEX captures_unsettled ON captures (merchant_id, live, (CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END), id)
    WHERE settled = 0 AND state = 'succeeded';
-- Live captures wait here for the report of their account.
CREATE INDEX captures_unreported ON captures (merchant_id, account, (CASE WHEN captured_at > 0 THEN captured_at ELSE created_at END), id)
    WHERE live = 1 AND settled = 0 AND state = 'succeeded' AND exception <> 'not_settled';
CREATE INDEX captures_excepted ON captures (id)
    WHERE settled = 0 AND state = 'succeeded' AND exception <> '' AND exception <> 'not_settled';
CREATE INDEX captures_of_day ON captures (merchant_id, live, settlement_day, id, transaction_id) WHERE settlement_day > 0;

CREATE TABLE refunds (
    id              INTEGER PRIMARY KEY,
    transaction_id  INTEGER REFERENCES transactions (id), -- NULL for an unlinked refund
    capture_id      INTEGER NOT NULL DEFAULT 0,
    merchant_id     INTEGER NOT NULL,
    live            INTEGER NOT NULL CHECK (live IN (0, 1)),
    state           TEXT    NOT NULL CHECK (state = 'pending' OR state = 'succeeded' OR state = 'failed'),
    amount          INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 999999999999),
    currency        TEXT    NOT NULL,
    details         TEXT    NOT NULL DEFAULT '{}',
    failure_code    TEXT    NOT NULL DEFAULT '',
    failure_message TEXT    NOT NULL DEFAULT '',
    claim           INTEGER NOT NULL DEFAULT 0,
    core_id         INTEGER NOT NULL DEFAULT 0,
    reclaimed_at    INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    api_key_id      INTEGER NOT NULL DEFAULT 0,
    client_address  TEXT    NOT NULL DEFAULT '',
    account         INTEGER NOT NULL DEFAULT 0, -- as in transactions
    tag             TEXT    NOT NULL DEFAULT '', -- from the acquirer
    acquirer_id     TEXT    NOT NULL DEFAULT '', -- the acquirer's id of the refund; '' for none
    settlement_day  INTEGER NOT NULL DEFAULT 0,  -- as in captures
    -- The id of the transaction's customer, by which lists find the refund; '' for none.
    customer        TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX refunds_by_tenant ON refunds (merchant_id, live, id);
CREATE INDEX refunds_by_transaction ON refunds (transaction_id, id);
CREATE INDEX refunds_open ON refunds (merchant_id, live, id) WHERE state = 'pending';
CREATE INDEX refunds_unsettled ON refunds (merchant_id, live, id) WHERE settlement_day = 0 AND state <> 'failed';
CREATE INDEX refunds_of_day ON refunds (merchant_id, live, settlement_day, id) WHERE settlement_day > 0;
CREATE INDEX refunds_of_customer ON refunds (merchant_id, live, customer, id) WHERE customer <> '';

-- The totals of settlement days. The id of a day is the least id of the moment at which it ended.
CREATE TABLE settlement_totals (
    merchant_id     INTEGER NOT NULL,
    live            INTEGER NOT NULL CHECK (live IN (0, 1)),
    day_id          INTEGER NOT NULL,
    currency        TEXT    NOT NULL,
    source          TEXT    NOT NULL, -- the brand of the cards, or bank_account
    captures        INTEGER NOT NULL,
    amount_captured INTEGER NOT NULL,
    refunds         INTEGER NOT NULL,
    amount_refunded INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, live, day_id, currency, source)
) STRICT, WITHOUT ROWID;

-- Pending reversals: steps that are closed, or will be closed, without proof that they had no
-- effect at the acquirer. Recovery inquires about the effect, and releases an authorization that it
-- finds. Other steps have no row here.
CREATE TABLE reversals (
    id             INTEGER PRIMARY KEY,
    kind           TEXT    NOT NULL CHECK (kind = 'authorize' OR kind = 'capture' OR kind = 'void' OR kind = 'refund'),
    transaction_id INTEGER NOT NULL, -- its row may have been removed; 0 for an unlinked refund
    step_id        INTEGER NOT NULL DEFAULT 0, -- of the capture, void or refund; 0 for an authorization
    attempt        INTEGER NOT NULL DEFAULT 0, -- of an authorization
    merchant_id    INTEGER NOT NULL,
    live           INTEGER NOT NULL CHECK (live IN (0, 1)),
    amount         INTEGER NOT NULL CHECK (amount >= 0), -- requested
    currency       TEXT    NOT NULL,
    captured       INTEGER NOT NULL CHECK (captured IN (0, 1)), -- a capture, or an authorization that captures at once
    held           INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0), -- the approved amount that the acquirer has reported
    requested      INTEGER NOT NULL DEFAULT 0 CHECK (requested IN (0, 1)), -- the acquirer may have a release request
    asked          INTEGER NOT NULL DEFAULT 0, -- release requests with a response; each has a separate reference
    refused        INTEGER NOT NULL DEFAULT 0, -- consecutive refusals
    looks          INTEGER NOT NULL DEFAULT 0, -- inquiries without a result since the acquirer acknowledged the release
    version        INTEGER NOT NULL DEFAULT 0,
    since          INTEGER NOT NULL,
    due_at         INTEGER NOT NULL,
    claim          INTEGER NOT NULL DEFAULT 0, -- the idempotency key that stays taken until the reversal ends
    account        INTEGER NOT NULL DEFAULT 0, -- of the step
    tag            TEXT    NOT NULL DEFAULT '', -- of the step
    acquirer_id    TEXT    NOT NULL DEFAULT '', -- the acquirer's id of the step; '' if unknown
    last4          TEXT    NOT NULL DEFAULT '', -- the last digits of the payment source; '' if unknown
    release        TEXT    NOT NULL DEFAULT '', -- the reference of the last release request; '' for none
    release_tag    TEXT    NOT NULL DEFAULT '', -- of that request
    UNIQUE (kind, step_id, transaction_id, attempt)
) STRICT;
CREATE INDEX reversals_by_tenant ON reversals (merchant_id, live, id);
CREATE INDEX reversals_by_transaction ON reversals (transaction_id);

-- The attempts at payments that had no effect, and after which the payment went to another account.
CREATE TABLE attempts (
    transaction_id INTEGER NOT NULL,
    number         INTEGER NOT NULL, -- from 1
    account        INTEGER NOT NULL,
    tag            TEXT    NOT NULL,
    class          TEXT    NOT NULL CHECK (class = 'unavailable' OR class = 'declined' OR class = 'reversed'), -- the proof that it had no effect
    PRIMARY KEY (transaction_id, number)
) STRICT, WITHOUT ROWID;

-- The last attempt of recovery at each unfinished step that it has tried. A step that ends has no
-- row.
CREATE TABLE step_attempts (
    kind       TEXT    NOT NULL CHECK (kind = 'authorize' OR kind = 'void' OR kind = 'capture' OR kind = 'refund' OR kind = 'reversal'),
    object_id  INTEGER NOT NULL, -- the transaction, capture, refund or reversal
    number     INTEGER NOT NULL, -- authorize: transactions.attempt; void: transactions.operation_id; else 0
    attempts   INTEGER NOT NULL,
    running    INTEGER NOT NULL CHECK (running IN (0, 1)),
    begun_at   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    last_error TEXT    NOT NULL,
    PRIMARY KEY (kind, object_id, number)
) STRICT, WITHOUT ROWID;

-- The operations that an acquirer did not have at the last look of a process, and how long they
-- were missing. Process 0 stands for an operation that the acquirer has had.
CREATE TABLE missing_operations (
    reference TEXT    NOT NULL,
    process   INTEGER NOT NULL,
    missing   INTEGER NOT NULL, -- milliseconds, see Missed of the store
    looked    INTEGER NOT NULL, -- when, in milliseconds of the process's monotonic clock
    at        INTEGER NOT NULL, -- when, by the clock; three years later for process 0
    PRIMARY KEY (reference, process)
) STRICT, WITHOUT ROWID;

CREATE INDEX missing_operations_by_time ON missing_operations (at);

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
-- The only index that event lists cost a payment. It covers the object, so a list of one object's
-- events skips the events of other objects without reading their rows.
CREATE INDEX events_by_tenant ON events (merchant_id, live, id, object_id);
-- Deleting a customer erases its events and those of its payment methods. Payments have no entry.
CREATE INDEX events_of_customers ON events (object_id, id)
    WHERE substr(type, 1, 9) = 'customer.' OR substr(type, 1, 15) = 'payment_method.';

-- Events that the platform sends a merchant once for each name; a repeated request returns the
-- stored event.
CREATE TABLE announcements (
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL, -- the subject, such as the id of a key
    event_id    INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, live, type, name)
) STRICT, WITHOUT ROWID;

-- Events for all merchants and their progress. The progress commits with the events, so that a
-- crash repeats none.
CREATE TABLE broadcasts (
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL, -- the subject, such as the id of a rotation
    data        BLOB    NOT NULL, -- shown in each event
    until       INTEGER NOT NULL, -- the newest merchant at the time of the broadcast, the last recipient
    place       INTEGER NOT NULL DEFAULT 0, -- the last merchant that has its events
    told        INTEGER NOT NULL DEFAULT 0, -- the number of merchants with events so far
    created_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL DEFAULT 0, -- 0 until every merchant has its events
    PRIMARY KEY (type, name)
) STRICT, WITHOUT ROWID;

-- Merchants for which a broadcast failed and is tried again.
CREATE TABLE broadcast_failures (
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    merchant_id INTEGER NOT NULL,
    due_at      INTEGER NOT NULL, -- of the next try
    PRIMARY KEY (type, name, merchant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    status      INTEGER NOT NULL DEFAULT 0, -- 0 while the request runs, then the HTTP status of the response
    body        BLOB,                       -- the response body, sealed
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idempotency_keys_by_key ON idempotency_keys (merchant_id, live, key);

CREATE TABLE webhook_endpoints (
    id            INTEGER PRIMARY KEY,
    merchant_id   INTEGER NOT NULL,
    live          INTEGER NOT NULL CHECK (live IN (0, 1)),
    url           TEXT    NOT NULL,
    types         TEXT    NOT NULL, -- event types between single spaces, or *
    details       TEXT    NOT NULL DEFAULT '{}',
    status        TEXT    NOT NULL CHECK (status = 'enabled' OR status = 'disabled'
                                          OR status = 'deleted'),
    reason        TEXT    NOT NULL DEFAULT '' CHECK (reason = '' OR reason = 'requested' OR reason = 'gone'
                                                     OR reason = 'failing'),
    generation    INTEGER NOT NULL DEFAULT 1 CHECK (generation >= 1), -- of the secret, which is derived from it
    overlap_until INTEGER NOT NULL DEFAULT 0, -- until then the previous secret signs, too
    failing_since INTEGER NOT NULL DEFAULT 0, -- 0 unless the last attempt failed
    version       INTEGER NOT NULL DEFAULT 1,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_by_tenant ON webhook_endpoints (merchant_id, live, id);
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (id) WHERE status = 'deleted';

CREATE TABLE webhook_deliveries (
    id              INTEGER PRIMARY KEY,
    endpoint_id     INTEGER NOT NULL,
    event_id        INTEGER NOT NULL,
    status          TEXT    NOT NULL DEFAULT 'pending' CHECK (status = 'pending' OR status = 'succeeded'
                                                              OR status = 'failed'),
    attempts        INTEGER NOT NULL DEFAULT 0, -- begun; a result of another attempt is ignored
    leased          INTEGER NOT NULL DEFAULT 0 CHECK (leased IN (0, 1)),
    core_id         INTEGER NOT NULL DEFAULT 0, -- the process that holds the lease; always 0 in a file
    due_at          INTEGER NOT NULL, -- of the next attempt, or the end of the lease
    response_status INTEGER NOT NULL DEFAULT 0,
    error           TEXT    NOT NULL DEFAULT '',
    duration_ms     INTEGER NOT NULL DEFAULT 0,
    attempted_at    INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE status = 'pending';

-- A sealed value names its vault key, so that a rotation finds the values that still need the old
-- one.
CREATE TABLE vault_retired_keys (
    key        INTEGER PRIMARY KEY, -- no value is sealed under it any more
    retired_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    id             INTEGER PRIMARY KEY,
    merchant_id    INTEGER NOT NULL,
    live           INTEGER NOT NULL CHECK (live IN (0, 1)),
    kind           TEXT    NOT NULL CHECK (kind IN ('card', 'bank_account')),
    details        TEXT    NOT NULL,
    vault_key      INTEGER NOT NULL,
    number         BLOB,             -- sealed; removed when the token expires
    secret_hash    BLOB    NOT NULL, -- of the value that the client holds
    cvc_given      INTEGER NOT NULL CHECK (cvc_given IN (0, 1)), -- the code itself is in codes.db
    used_by        INTEGER NOT NULL DEFAULT 0,
    used_at        INTEGER NOT NULL DEFAULT 0,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    api_key_id     INTEGER NOT NULL DEFAULT 0,
    client_address TEXT    NOT NULL DEFAULT '',
    CHECK ((used_by = 0) = (used_at = 0))
) STRICT;
CREATE INDEX tokens_sealed ON tokens (expires_at) WHERE number IS NOT NULL;
CREATE INDEX tokens_by_expiry ON tokens (expires_at);

CREATE TABLE customers (
    id                INTEGER PRIMARY KEY,
    merchant_id       INTEGER NOT NULL,
    live              INTEGER NOT NULL CHECK (live IN (0, 1)),
    details           TEXT    NOT NULL,
    default_method_id INTEGER NOT NULL DEFAULT 0, -- charged if a payment names no method; 0 for none
    version           INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    -- The last payment or refund of the transactions that an erasure has unlinked from the
    -- customer; 0 for none.
    last_paid_at      INTEGER NOT NULL DEFAULT 0,
    deleted_at        INTEGER NOT NULL DEFAULT 0,
    api_key_id        INTEGER NOT NULL DEFAULT 0,
    client_address    TEXT    NOT NULL DEFAULT '' -- '' once deleted, also in its payment methods
) STRICT;
CREATE INDEX customers_by_tenant ON customers (merchant_id, live, id) WHERE deleted_at = 0;
CREATE INDEX customers_by_reference ON customers (merchant_id, live, details ->> '$.reference', id)
    WHERE deleted_at = 0 AND details ->> '$.reference' IS NOT NULL;
CREATE INDEX customers_by_email ON customers (merchant_id, live, details ->> '$.email', id)
    WHERE deleted_at = 0 AND details ->> '$.email' IS NOT NULL;

CREATE TABLE payment_methods (
    id             INTEGER PRIMARY KEY,
    merchant_id    INTEGER NOT NULL,
    live           INTEGER NOT NULL CHECK (live IN (0, 1)),
    customer_id    INTEGER NOT NULL REFERENCES customers (id),
    kind           TEXT    NOT NULL CHECK (kind IN ('card', 'bank_account')),
    fingerprint    TEXT    NOT NULL,
    details        TEXT    NOT NULL,
    vault_key      INTEGER NOT NULL,
    number         BLOB,             -- sealed; removed when the method is detached
    created_at     INTEGER NOT NULL,
    detached_at    INTEGER NOT NULL DEFAULT 0,
    api_key_id     INTEGER NOT NULL DEFAULT 0,
    client_address TEXT    NOT NULL DEFAULT '',
    CHECK ((detached_at = 0) = (number IS NOT NULL))
) STRICT;
-- Deleting a customer erases all its payment methods, detached ones included.
CREATE INDEX payment_methods_by_customer ON payment_methods (customer_id, detached_at, id);

-- How far the test clock of a merchant is ahead of the clock.
CREATE TABLE test_clocks (
    merchant_id INTEGER PRIMARY KEY,
    offset_ms   INTEGER NOT NULL CHECK (offset_ms >= 0)
) STRICT;

-- The row that a health check writes, as large as the rows of a payment, to prove that the store
-- accepts writes.
CREATE TABLE store_probes (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    filler BLOB NOT NULL
) STRICT;

-- The state of clock.Guard in milliseconds. With it, a clock that is wrong after a restart removes
-- no row too early.
CREATE TABLE confirmed_clock (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    at         INTEGER NOT NULL,           -- the highest confirmed time
    behind     INTEGER NOT NULL DEFAULT 0, -- how far the confirmed time is behind at
    step       INTEGER NOT NULL DEFAULT 0, -- how far the clock stepped ahead without confirmation
    step_until INTEGER NOT NULL DEFAULT 0, -- until when the step is not lowered, by at
    lag        INTEGER NOT NULL DEFAULT 0, -- how much longer idempotency keys live than by the confirmed time
    lag_until  INTEGER NOT NULL DEFAULT 0, -- when the lag ends, by at
    low_until  INTEGER NOT NULL DEFAULT 0  -- when at is forgotten because the clock was set back, by at; 0 for never
) STRICT;

-- The tokens by which operators log in. The hash is of 32 random bytes, which are stored nowhere.
CREATE TABLE operators (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL CHECK (role = 'operator' OR role = 'auditor' OR role = 'filter-identify'),
    hash       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL DEFAULT 0, -- 0 for never
    revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The merchants' accounts at acquirers, for live mode. The profile is JSON without secrets. The credentials are
-- encrypted by the vault. Rank 2 is the second account for failover.
CREATE TABLE acquirer_accounts (
    id          INTEGER PRIMARY KEY,
    merchant_id INTEGER NOT NULL,
    currency    TEXT    NOT NULL,
    method      TEXT    NOT NULL CHECK (method IN ('card', 'bank_account')),
    rank        INTEGER NOT NULL CHECK (rank IN (1, 2)),
    kind        TEXT    NOT NULL,
    profile     TEXT    NOT NULL,
    vault_key   INTEGER NOT NULL,
    credentials BLOB    NOT NULL,
    state       TEXT    NOT NULL CHECK (state IN ('enabled', 'disabled')),
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    rotated_at  INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX acquirer_accounts_enabled ON acquirer_accounts (merchant_id, currency, method, rank)
    WHERE state = 'enabled';

-- Attempts at cards of live mode that were declined, or that followed a decline: see payment.RetryRule. An approval removes
-- the rows of its card. never is 1 if the decline ends all attempts.
CREATE TABLE card_attempts (
    merchant_id    INTEGER NOT NULL,
    fingerprint    TEXT    NOT NULL,
    transaction_id INTEGER NOT NULL,
    attempt        INTEGER NOT NULL,
    account        INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    never          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (merchant_id, fingerprint, transaction_id, attempt, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX card_attempts_by_time ON card_attempts (at);

-- The announced requirements of encryption. The check repeats payment.MLENotice: 366 days.
CREATE TABLE mle_requirements (
    id           INTEGER PRIMARY KEY,
    endpoints    TEXT    NOT NULL, -- one in each line, such as POST /v1/tokens
    announced_at INTEGER NOT NULL,
    effective_at INTEGER NOT NULL CHECK (effective_at >= announced_at + 31622400000),
    withdrawn_at INTEGER NOT NULL DEFAULT 0
) STRICT;

-- One record for each action of an operator, in the commit of the action. Each MAC covers the
-- record and the MAC of the record before it. The triggers keep SQL statements from changing a
-- record or removing one of the last 365 days.
CREATE TABLE audit_records (
    sequence       INTEGER PRIMARY KEY,
    at             INTEGER NOT NULL,
    actor          TEXT    NOT NULL,
    client_address TEXT    NOT NULL, -- '' at the command line
    action         TEXT    NOT NULL,
    object         TEXT    NOT NULL,
    state_before   TEXT    NOT NULL, -- JSON of the object without secrets; '' for none
    state_after    TEXT    NOT NULL,
    outcome        TEXT    NOT NULL,
    request_id     TEXT    NOT NULL,
    previous       BLOB    NOT NULL,
    mac            BLOB    NOT NULL
) STRICT;
CREATE TRIGGER audit_records_unchanged BEFORE UPDATE ON audit_records
BEGIN
    SELECT RAISE(ABORT, 'audit records cannot be changed');
END;
CREATE TRIGGER audit_records_kept BEFORE DELETE ON audit_records
WHEN OLD.at > (SELECT at FROM audit_records ORDER BY sequence DESC LIMIT 1) - 31536000000
BEGIN
    SELECT RAISE(ABORT, 'audit records are kept for 365 days');
END;
-- +goose StatementEnd
