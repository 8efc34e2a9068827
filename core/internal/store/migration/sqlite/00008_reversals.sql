-- +goose Up
-- Authorizations that nobody wants any more: of payments that were closed although the acquirer may still come to act on them, and of those
-- that it approved after that. Ordinary payments never meet this table.
CREATE TABLE reversals (
    id             INTEGER PRIMARY KEY,
    transaction_id INTEGER NOT NULL, -- its row may be gone
    attempt        INTEGER NOT NULL,
    merchant_id    INTEGER NOT NULL,
    live           INTEGER NOT NULL CHECK (live IN (0, 1)),
    amount         INTEGER NOT NULL CHECK (amount >= 0), -- what the payment asked for
    currency       TEXT    NOT NULL,
    captured       INTEGER NOT NULL CHECK (captured IN (0, 1)), -- the money was to be taken at once
    held           INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0), -- what the acquirer said it approved, 0 while it said nothing
    asked          INTEGER NOT NULL DEFAULT 0, -- requests to let go that the acquirer answered: the next one has a name of its own
    refused        INTEGER NOT NULL DEFAULT 0, -- how many of the last of them it refused
    version        INTEGER NOT NULL DEFAULT 0,
    since          INTEGER NOT NULL,
    due_at         INTEGER NOT NULL,
    UNIQUE (transaction_id, attempt)
) STRICT;
CREATE INDEX reversals_due ON reversals (due_at);

-- A payment that waits to be confirmed lapses 24 hours after it was made, by its merchant's test clock when it is a test object. A payment
-- that is confirmed in its create is never in this index.
UPDATE transactions SET expires_at = created_at + 86400000
        + CASE live WHEN 0 THEN COALESCE((SELECT offset_ms FROM test_clocks c WHERE c.merchant_id = transactions.merchant_id), 0) ELSE 0 END
    WHERE status = 'requires_confirmation' OR attempt > 0 AND status IN ('processing', 'unknown');
CREATE INDEX transactions_waiting ON transactions (expires_at) WHERE status = 'requires_confirmation';
