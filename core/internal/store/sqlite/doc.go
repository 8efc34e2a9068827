// Package sqlite is the store's engine for one process: a SQLite file with one writer.
//
// The writer runs all waiting commands as one batch, each in a savepoint. It commits the batch with one
// fsync, and only then does any command return. Reads use a pool of read-only connections and never
// wait for the writer.
//
// Security codes are in a file of their own, codes.db, which no backup holds.
package sqlite
