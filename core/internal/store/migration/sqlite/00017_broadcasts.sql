-- +goose Up
-- What the platform tells all merchants, and how far that has come. The place moves in the commit of the events that it is moved past, so
-- after any crash the telling goes on where it was.
CREATE TABLE broadcasts (
    type        TEXT    NOT NULL,
    name        TEXT    NOT NULL, -- what it is about, such as the id of a rotation
    data        BLOB    NOT NULL, -- what the events show
    until       INTEGER NOT NULL, -- the newest merchant of that moment, the last to be told
    place       INTEGER NOT NULL DEFAULT 0, -- the last merchant that had its turn
    told        INTEGER NOT NULL DEFAULT 0, -- how many merchants there were events for
    created_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL DEFAULT 0, -- 0 until all had their turn
    PRIMARY KEY (type, name)
) STRICT, WITHOUT ROWID;
