-- +goose Up
-- All statements are one for goose, which allocates 4 MB for each line that could end a statement.
-- +goose StatementBegin
-- Every write increments the revision first. On PostgreSQL that serializes the writers, as SQLite
-- does by itself. Each changed row carries the revision of its last change, so a filter finds the
-- tenants whose keys it must read again.
CREATE TABLE mle_revision (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL
) STRICT;
INSERT INTO mle_revision VALUES (1, 0);

-- The keyset encrypts the private keys; the key-encryption key encrypts the keyset and the HMAC key.
CREATE TABLE mle_keyset (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    sealed     BLOB NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, -- counts changes of its keys, not rewraps
    rotated_at INTEGER NOT NULL, -- when its newest key was made
    wrapped_at INTEGER NOT NULL, -- since when this key-encryption key encrypts it
    hmac_key   BLOB NOT NULL  -- the key of the HMACs of rows; neither a rotation nor a rewrap changes it
) STRICT;

-- The service's keys, which clients encrypt requests to. Times are Unix milliseconds, 0 for "never".
-- A key that was activated and not superseded is current; one that was not activated is next.
CREATE TABLE mle_keys (
    kid           TEXT PRIMARY KEY,
    tenant        TEXT NOT NULL,
    alg           TEXT NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk           BLOB NOT NULL, -- the public key
    sealed        BLOB, -- the encrypted private key; NULL once the key does not decrypt any more
    created_at    INTEGER NOT NULL,
    not_before    INTEGER NOT NULL, -- when a next key becomes current
    rotate_at     INTEGER NOT NULL, -- when a current key is superseded
    activated_at  INTEGER NOT NULL DEFAULT 0,
    superseded_at INTEGER NOT NULL DEFAULT 0,
    retire_at     INTEGER NOT NULL DEFAULT 0, -- from when on a superseded key is refused
    revoked_at    INTEGER NOT NULL DEFAULT 0,
    requested_at      INTEGER NOT NULL DEFAULT 0, -- when the merchant requested its rotation; limited per day
    due_at        INTEGER NOT NULL DEFAULT 0, -- when the schedule checks the key next
    mac           BLOB, -- a code of the row, under the HMAC key; only the revision is not in it
    revision      INTEGER NOT NULL,
    CHECK (superseded_at = 0 OR activated_at > 0),
    CHECK (retire_at = 0 OR superseded_at > 0)
) STRICT;
CREATE UNIQUE INDEX mle_keys_current ON mle_keys (tenant, alg) WHERE activated_at > 0 AND superseded_at = 0;
CREATE UNIQUE INDEX mle_keys_next ON mle_keys (tenant, alg) WHERE activated_at = 0 AND revoked_at = 0;
CREATE INDEX mle_keys_by_tenant ON mle_keys (tenant);
CREATE INDEX mle_keys_by_due ON mle_keys (due_at) WHERE due_at > 0;
CREATE INDEX mle_keys_by_revision ON mle_keys (revision);
CREATE INDEX mle_keys_over ON mle_keys (created_at) WHERE sealed IS NULL;

-- RSA keys made ahead. They belong to no tenant yet.
CREATE TABLE mle_spares (
    kid        TEXT PRIMARY KEY,
    alg        TEXT NOT NULL,
    jwk        BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    mac        BLOB
) STRICT;

-- The merchants' own public keys, which responses are encrypted to.
CREATE TABLE mle_response_keys (
    tenant               TEXT NOT NULL,
    kid                  TEXT NOT NULL,
    alg                  TEXT NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk                  BLOB NOT NULL,
    created_at           INTEGER NOT NULL,
    proven_at            INTEGER NOT NULL DEFAULT 0, -- when the merchant proved possession of the private key
    proven_revision      INTEGER NOT NULL DEFAULT 0, -- orders the active keys
    deleted_at           INTEGER NOT NULL DEFAULT 0,
    challenge            BLOB, -- the hash of the text that proves possession
    challenge_expires_at INTEGER NOT NULL DEFAULT 0,
    mac                  BLOB, -- as in mle_keys; NULL once the key is deleted
    revision             INTEGER NOT NULL,
    PRIMARY KEY (tenant, kid)
) STRICT;
CREATE INDEX mle_response_keys_by_revision ON mle_response_keys (revision);
CREATE INDEX mle_response_keys_deleted ON mle_response_keys (deleted_at) WHERE deleted_at > 0;

-- Events for merchants, kept until core has accepted them.
CREATE TABLE mle_outbox (
    id           TEXT PRIMARY KEY,
    tenant       TEXT NOT NULL,
    type         TEXT NOT NULL,
    body         BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    next_at      INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX mle_outbox_by_next ON mle_outbox (next_at) WHERE delivered_at = 0;

-- The responses to requests with an Idempotency-Key. The key and the fingerprint of the request
-- are stored as HMACs under the HMAC key: either could be guessed, or contain confidential text.
CREATE TABLE mle_responses (
    tenant      TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;
CREATE INDEX mle_responses_by_time ON mle_responses (created_at);
-- +goose StatementEnd
