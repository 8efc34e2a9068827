// Package move moves a store from SQLite to PostgreSQL while the first one is served.
//
// A pass reads the source at one moment, table by table in the order of its keys, in pieces of some thousand rows. Of each piece the target is asked
// for the count and the hash of the rows that it has there, and where they differ it is made to have the source's: rows that are missing, that
// were changed since, or that are gone. So every pass is a first one, a continued one and one that catches up; nothing is remembered of how far
// one came, and a pass that was killed is made again. What is equal already costs a read of both sides and no write.
//
// The last pass has the source closed to all writers. After it the whole of each table is compared once more, by one statement a table on the
// target, and then the stores change places: the source is marked first, and with triggers refuses every write from then on, whoever
// tries; only then may the target be served. Until then the target's triggers refuse all writes but the move's. So there is no moment at
// which both take payments.
package move
