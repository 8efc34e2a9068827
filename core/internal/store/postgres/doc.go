// Package postgres is the store's engine for more than one machine: PostgreSQL, which any number of
// processes share.
//
// Commands run at the same time, each in its own transaction (READ COMMITTED). So changes are
// conditional, and a command locks each row on which it bases a decision. The SQL of the store's
// statements is in the files sql_*.go.
package postgres
