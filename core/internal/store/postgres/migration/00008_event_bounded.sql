-- +goose Up
ALTER TABLE events VALIDATE CONSTRAINT first_part;
