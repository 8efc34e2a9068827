-- +goose Up
-- Whether a merchant may give money to a card that it took none from.
ALTER TABLE merchants ADD COLUMN unlinked_refunds INTEGER NOT NULL DEFAULT 0 CHECK (unlinked_refunds = 0 OR unlinked_refunds = 1);

-- Such a refund is of no transaction. Rows stay as they are when a column may be NULL from now on, so the rule is taken away in place, as SQLite's
-- manual has it, instead of copying the table.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'transaction_id  INTEGER NOT NULL REFERENCES', 'transaction_id  INTEGER REFERENCES')
    WHERE type = 'table' AND name = 'refunds';
PRAGMA writable_schema = RESET;
-- Tells other connections that the schema is another one.
CREATE TABLE schema_changed (n INTEGER);
DROP TABLE schema_changed;
