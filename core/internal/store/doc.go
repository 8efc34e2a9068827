// Package store is the durable state of core: merchants, payments, API keys, events and their
// deliveries. Only a *Tx writes, and it belongs to one command. A change, its event and the stored
// response are therefore in one commit or in none.
//
// Package sqlite keeps the store in files for one process, package postgres on a server for many.
// The SQLite writer commits waiting commands as one batch with one fsync. Each command of a batch
// has a savepoint, and its caller continues after that commit. Reads use other connections and
// never wait for the writer.
//
// Each noun has one file. Times are stored as integer UTC milliseconds, amounts as integer minor
// units.
package store
