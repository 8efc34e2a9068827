-- +goose Up
-- Every write counts it up first. On PostgreSQL that makes writers wait for each other, as SQLite does by itself; and rows carry the count of
-- their last change, which tells every filter whose keys to read anew.
CREATE TABLE mle_revision (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL
) STRICT;
INSERT INTO mle_revision VALUES (1, 0);

-- The keys that the private keys are encrypted by, themselves encrypted by the key-encryption key.
CREATE TABLE mle_keyset (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB    NOT NULL
) STRICT;

-- Times are Unix milliseconds, 0 for "not". A key that was activated and not superseded is current; one that was not activated is next.
CREATE TABLE mle_keys (
    kid           TEXT    PRIMARY KEY,
    tenant        TEXT    NOT NULL,
    alg           TEXT    NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk           BLOB    NOT NULL, -- the public key
    sealed        BLOB,             -- the private key, encrypted; gone when it does not decrypt any more
    created_at    INTEGER NOT NULL,
    not_before    INTEGER NOT NULL, -- when a next key is due to become current
    rotate_at     INTEGER NOT NULL, -- when a current key is due to be superseded
    activated_at  INTEGER NOT NULL DEFAULT 0,
    superseded_at INTEGER NOT NULL DEFAULT 0,
    retire_at     INTEGER NOT NULL DEFAULT 0, -- from when on a superseded key is refused
    revoked_at    INTEGER NOT NULL DEFAULT 0,
    due_at        INTEGER NOT NULL DEFAULT 0, -- when somebody has to look at the key, 0 for never
    revision      INTEGER NOT NULL,
    CHECK (superseded_at = 0 OR activated_at > 0),
    CHECK (retire_at = 0 OR superseded_at > 0)
) STRICT;
CREATE UNIQUE INDEX mle_keys_current ON mle_keys (tenant, alg) WHERE activated_at > 0 AND superseded_at = 0;
CREATE UNIQUE INDEX mle_keys_next ON mle_keys (tenant, alg) WHERE activated_at = 0 AND revoked_at = 0;
CREATE INDEX mle_keys_by_tenant ON mle_keys (tenant);
CREATE INDEX mle_keys_by_due ON mle_keys (due_at) WHERE due_at > 0;
CREATE INDEX mle_keys_by_revision ON mle_keys (revision);

-- Keys made ahead, which are nobody's yet.
CREATE TABLE mle_spares (
    kid        TEXT    PRIMARY KEY,
    alg        TEXT    NOT NULL,
    jwk        BLOB    NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

-- The merchants' own keys, which answers to them are encrypted to.
CREATE TABLE mle_response_keys (
    tenant               TEXT    NOT NULL,
    kid                  TEXT    NOT NULL,
    alg                  TEXT    NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk                  BLOB    NOT NULL,
    created_at           INTEGER NOT NULL,
    proven_at            INTEGER NOT NULL DEFAULT 0, -- when the merchant has shown that the private key is its own
    proven_revision      INTEGER NOT NULL DEFAULT 0, -- puts active keys in order
    deleted_at           INTEGER NOT NULL DEFAULT 0,
    challenge            BLOB,                       -- the hash of what has to be shown
    challenge_expires_at INTEGER NOT NULL DEFAULT 0,
    revision             INTEGER NOT NULL,
    PRIMARY KEY (tenant, kid)
) STRICT;
CREATE INDEX mle_response_keys_by_revision ON mle_response_keys (revision);

-- What is to be announced to merchants, until core has taken it.
CREATE TABLE mle_outbox (
    id           TEXT    PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    body         BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    next_at      INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX mle_outbox_by_next ON mle_outbox (next_at) WHERE delivered_at = 0;

-- What requests with an Idempotency-Key were answered.
CREATE TABLE mle_answers (
    tenant      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant, key)
) STRICT;
CREATE INDEX mle_answers_by_time ON mle_answers (created_at);
