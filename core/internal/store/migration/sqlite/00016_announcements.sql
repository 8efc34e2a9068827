-- +goose Up
-- What the platform has told a merchant, each thing once: whoever tells of it again gets the event that there is.
CREATE TABLE announcements (
    merchant_id INTEGER NOT NULL,
    live        INTEGER NOT NULL CHECK (live IN (0, 1)),
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL, -- what it is about, such as the id of a key
    event_id    INTEGER NOT NULL,
    PRIMARY KEY (merchant_id, live, type, name)
) STRICT, WITHOUT ROWID;
