// Package sqlite is the store's engine for one process: a SQLite file with one writer.
//
// The writer runs the waiting commands as one batch, each in a savepoint. It commits the batch with
// one fsync, and only then does any command return. Reads use pools of read-only connections and
// never wait for the writer.
//
// Security codes are in a separate file, codes.db, which no backup contains.
package sqlite
