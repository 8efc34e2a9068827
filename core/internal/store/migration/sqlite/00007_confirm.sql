-- +goose Up
-- 0 for a payment that was confirmed in its create. Else the number of the confirmation that runs, or comes next, from 1: acquirers
-- know each by a reference of its own, so that one that was reversed cannot be mistaken for the next.
ALTER TABLE transactions ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0);
-- What the payment was before the confirmation that runs, or ran.
ALTER TABLE transactions ADD COLUMN waiting_method TEXT;
ALTER TABLE transactions ADD COLUMN waiting_details TEXT;
