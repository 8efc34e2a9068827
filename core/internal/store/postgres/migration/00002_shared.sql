-- +goose Up
-- What several cores share besides the rows of merchants.

-- The root secret and the vault's keyset, encrypted by the key-encryption key, which every core is given and no database knows.
CREATE TABLE secrets (
    name   TEXT  PRIMARY KEY,
    sealed BYTEA NOT NULL
);

-- The cores that run, and which of them leads: it does what is to be done once. A core that is gone beats no more.
CREATE TABLE cores (
    id   BIGINT PRIMARY KEY,
    beat BIGINT NOT NULL
);
CREATE TABLE lead (
    one     SMALLINT PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    core_id BIGINT   NOT NULL,
    until   BIGINT   NOT NULL
);
INSERT INTO lead (core_id, until) VALUES (0, 0);

-- Which core works on what is open. 0 is none that is still there.
ALTER TABLE transactions ADD COLUMN core_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE captures ADD COLUMN core_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE refunds ADD COLUMN core_id BIGINT NOT NULL DEFAULT 0;

-- What the simulator remembers of the requests of all cores.
CREATE TABLE simulator_requests (
    key    TEXT     PRIMARY KEY,
    line   TEXT     NOT NULL,
    voided SMALLINT NOT NULL CHECK (voided IN (0, 1)),
    at     BIGINT   NOT NULL
);
CREATE INDEX simulator_requests_by_age ON simulator_requests (at);
