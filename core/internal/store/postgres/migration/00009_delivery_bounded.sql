-- +goose Up
ALTER TABLE webhook_deliveries VALIDATE CONSTRAINT first_part;
