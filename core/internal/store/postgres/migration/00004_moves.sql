-- +goose Up
-- Whether these rows have come from another database, and whether all have.
CREATE TABLE moves (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    state    TEXT    NOT NULL CHECK (state IN ('away', 'arriving', 'arrived', 'undoing')),
    identity TEXT    NOT NULL,
    place    TEXT    NOT NULL,
    at       BIGINT  NOT NULL
);

-- Texts in keys are compared by their bytes, as SQLite does: so both engines have the rows in one order, whatever the locale of the database.
ALTER TABLE transaction_terms ALTER COLUMN term TYPE TEXT COLLATE "C";
ALTER TABLE announcements ALTER COLUMN type TYPE TEXT COLLATE "C", ALTER COLUMN name TYPE TEXT COLLATE "C";
ALTER TABLE broadcasts ALTER COLUMN type TYPE TEXT COLLATE "C", ALTER COLUMN name TYPE TEXT COLLATE "C";
