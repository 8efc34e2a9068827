// Package postgres is the store's engine for more than one machine: PostgreSQL, which any number of processes share.
//
// Commands run side by side, each in a transaction of its own (READ COMMITTED), so what SQLite's one writer gives for nothing is said here: changes
// are conditional, and what a command decides by is locked (store.Dialect). Statements come in the words of SQLite; dialect.go says how they are put
// into PostgreSQL's.
package postgres
