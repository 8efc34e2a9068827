-- +goose Up
ALTER TABLE api_keys ADD COLUMN name         TEXT    NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN replaced_by  INTEGER; -- the key that a roll put in this one's place
ALTER TABLE api_keys ADD COLUMN revoked_at   INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
CREATE INDEX api_keys_by_tenant ON api_keys (merchant_id, live, id);
