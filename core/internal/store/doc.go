// Package store keeps Causeway's truth. Only a *Tx can write, and only Update hands one out, so that a change, its event and the
// answer that is given for it are in one commit or in none.
//
// On SQLite there is one writer: whoever holds it runs the commands that wait as one group, each in a savepoint of its own, commits the
// group with one fsync, and only then lets any of them answer. Reads go through a pool of read-only connections and never wait for it.
//
// One noun is one file. Times are stored as integer UTC milliseconds, amounts as integer minor units.
package store
