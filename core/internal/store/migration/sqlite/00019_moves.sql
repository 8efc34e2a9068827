-- +goose Up
-- Whether these rows have gone to another database, at most one row; core migrate-data writes it, and every opening of the store asks it.
CREATE TABLE moves (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    state    TEXT    NOT NULL CHECK (state = 'away' OR state = 'arriving' OR state = 'arrived' OR state = 'undoing'),
    identity TEXT    NOT NULL, -- of the store that the rows are from
    place    TEXT    NOT NULL, -- where the others are, for people
    at       INTEGER NOT NULL
) STRICT;
