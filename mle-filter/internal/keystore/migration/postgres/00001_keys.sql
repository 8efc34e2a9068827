-- +goose Up
-- Every write counts it up first. On PostgreSQL that makes writers wait for each other, as SQLite does by itself; and rows carry the count of
-- their last change, which tells every filter whose keys to read anew.
CREATE TABLE mle_revision (
    id       SMALLINT PRIMARY KEY CHECK (id = 1),
    revision BIGINT  NOT NULL
);
INSERT INTO mle_revision VALUES (1, 0);

-- The keys that the private keys are encrypted by, themselves encrypted by the key-encryption key.
CREATE TABLE mle_keyset (
    id     SMALLINT PRIMARY KEY CHECK (id = 1),
    sealed BYTEA   NOT NULL
);

-- Times are Unix milliseconds, 0 for "not". A key that was activated and not superseded is current; one that was not activated is next.
CREATE TABLE mle_keys (
    kid           TEXT    PRIMARY KEY,
    tenant        TEXT    NOT NULL,
    alg           TEXT    NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk           BYTEA   NOT NULL, -- the public key
    sealed        BYTEA,             -- the private key, encrypted; gone when it does not decrypt any more
    created_at    BIGINT  NOT NULL,
    not_before    BIGINT  NOT NULL, -- when a next key is due to become current
    rotate_at     BIGINT  NOT NULL, -- when a current key is due to be superseded
    activated_at  BIGINT  NOT NULL DEFAULT 0,
    superseded_at BIGINT  NOT NULL DEFAULT 0,
    retire_at     BIGINT  NOT NULL DEFAULT 0, -- from when on a superseded key is refused
    revoked_at    BIGINT  NOT NULL DEFAULT 0,
    due_at        BIGINT  NOT NULL DEFAULT 0, -- when somebody has to look at the key, 0 for never
    revision      BIGINT  NOT NULL,
    CHECK (superseded_at = 0 OR activated_at > 0),
    CHECK (retire_at = 0 OR superseded_at > 0)
);
CREATE UNIQUE INDEX mle_keys_current ON mle_keys (tenant, alg) WHERE activated_at > 0 AND superseded_at = 0;
CREATE UNIQUE INDEX mle_keys_next ON mle_keys (tenant, alg) WHERE activated_at = 0 AND revoked_at = 0;
CREATE INDEX mle_keys_by_tenant ON mle_keys (tenant);
CREATE INDEX mle_keys_by_due ON mle_keys (due_at) WHERE due_at > 0;
CREATE INDEX mle_keys_by_revision ON mle_keys (revision);

-- Keys made ahead, which are nobody's yet.
CREATE TABLE mle_spares (
    kid        TEXT    PRIMARY KEY,
    alg        TEXT    NOT NULL,
    jwk        BYTEA   NOT NULL,
    sealed     BYTEA   NOT NULL,
    created_at BIGINT  NOT NULL
);

-- The merchants' own keys, which answers to them are encrypted to.
CREATE TABLE mle_response_keys (
    tenant               TEXT    NOT NULL,
    kid                  TEXT    NOT NULL,
    alg                  TEXT    NOT NULL CHECK (alg IN ('RSA-OAEP-256', 'ECDH-ES+A256KW')),
    jwk                  BYTEA   NOT NULL,
    created_at           BIGINT  NOT NULL,
    proven_at            BIGINT  NOT NULL DEFAULT 0, -- when the merchant has shown that the private key is its own
    proven_revision      BIGINT  NOT NULL DEFAULT 0, -- puts active keys in order
    deleted_at           BIGINT  NOT NULL DEFAULT 0,
    challenge            BYTEA,                       -- the hash of what has to be shown
    challenge_expires_at BIGINT  NOT NULL DEFAULT 0,
    revision             BIGINT  NOT NULL,
    PRIMARY KEY (tenant, kid)
);
CREATE INDEX mle_response_keys_by_revision ON mle_response_keys (revision);

-- What is to be announced to merchants, until core has taken it.
CREATE TABLE mle_outbox (
    id           TEXT    PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    type         TEXT    NOT NULL,
    body         BYTEA   NOT NULL,
    created_at   BIGINT  NOT NULL,
    next_at      BIGINT  NOT NULL,
    attempts     BIGINT  NOT NULL DEFAULT 0,
    delivered_at BIGINT  NOT NULL DEFAULT 0
);
CREATE INDEX mle_outbox_by_next ON mle_outbox (next_at) WHERE delivered_at = 0;

-- What requests with an Idempotency-Key were answered.
CREATE TABLE mle_answers (
    tenant      TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BYTEA   NOT NULL,
    status      BIGINT  NOT NULL,
    body        BYTEA   NOT NULL,
    created_at  BIGINT  NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX mle_answers_by_time ON mle_answers (created_at);
