-- +goose Up
-- The one index that lists of events cost a payment. The object stands in it so that a list of one object's events passes over the
-- others' without reading them.
CREATE INDEX events_by_tenant ON events (merchant_id, live, id, object_id);

CREATE TABLE webhook_endpoints (
    id            INTEGER PRIMARY KEY,
    merchant_id   INTEGER NOT NULL,
    live          INTEGER NOT NULL CHECK (live IN (0, 1)),
    url           TEXT    NOT NULL,
    types         TEXT    NOT NULL, -- event types between single spaces, or *
    details       TEXT    NOT NULL DEFAULT '{}',
    status        TEXT    NOT NULL CHECK (status IN ('enabled', 'disabled', 'deleted')),
    reason        TEXT    NOT NULL DEFAULT '' CHECK (reason IN ('', 'requested', 'gone', 'failing')),
    generation    INTEGER NOT NULL DEFAULT 1 CHECK (generation >= 1), -- counts the secrets; the secret itself is derived
    overlap_until INTEGER NOT NULL DEFAULT 0, -- until when the secret before this generation signs too
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
    status          TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
    attempts        INTEGER NOT NULL DEFAULT 0, -- begun ones; the number of the one under way keeps all others out
    leased          INTEGER NOT NULL DEFAULT 0 CHECK (leased IN (0, 1)),
    due_at          INTEGER NOT NULL, -- of the next attempt; while one is under way, the end of its lease
    response_status INTEGER NOT NULL DEFAULT 0,
    error           TEXT    NOT NULL DEFAULT '',
    duration_ms     INTEGER NOT NULL DEFAULT 0,
    attempted_at    INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at) WHERE status = 'pending';
