-- +goose Up
-- Keys that are over go some time after their end. There are none among those that were made since.
CREATE INDEX mle_keys_over ON mle_keys (created_at) WHERE sealed IS NULL;
CREATE INDEX mle_response_keys_deleted ON mle_response_keys (deleted_at) WHERE deleted_at > 0;
