-- +goose Up
-- What is erased with a customer are all its payment methods, detached ones included.
DROP INDEX payment_methods_by_customer;
CREATE INDEX payment_methods_by_customer ON payment_methods (customer_id, detached_at, id);

-- Which transactions name a customer, or a reference of the merchant's. A payment that names neither has no row here and pays nothing. A row
-- may outlive what it speaks of, such as a payment that was taken back: it leads to a transaction, which is asked again.
CREATE TABLE transaction_terms (
    merchant       INTEGER NOT NULL,
    is_live        INTEGER NOT NULL CHECK (is_live IN (0, 1)),
    kind           INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 customer, 2 reference
    term           TEXT    NOT NULL,
    transaction_id INTEGER NOT NULL,
    PRIMARY KEY (merchant, is_live, kind, term, transaction_id)
) STRICT, WITHOUT ROWID;
INSERT INTO transaction_terms
    SELECT merchant_id, live, 1, details ->> '$.customer', id FROM transactions WHERE details ->> '$.customer' <> ''
    UNION ALL
    SELECT merchant_id, live, 2, details ->> '$.reference', id FROM transactions WHERE details ->> '$.reference' <> '';
