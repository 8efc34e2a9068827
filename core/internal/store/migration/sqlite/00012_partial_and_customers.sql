-- +goose Up
-- Whether the acquirer may approve less than was asked for.
ALTER TABLE transactions ADD COLUMN partial INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1));

-- What a customer's payments are taken from when they name nothing else; 0 for nothing.
ALTER TABLE customers ADD COLUMN default_method_id INTEGER NOT NULL DEFAULT 0;
-- Customers are found by the merchant's own name for them, and by their e-mail address.
CREATE INDEX customers_by_reference ON customers (merchant_id, live, details ->> '$.reference', id)
    WHERE deleted_at = 0 AND details ->> '$.reference' IS NOT NULL;
CREATE INDEX customers_by_email ON customers (merchant_id, live, details ->> '$.email', id)
    WHERE deleted_at = 0 AND details ->> '$.email' IS NOT NULL;
