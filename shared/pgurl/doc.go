// Package pgurl holds the rules that all programs apply to a PostgreSQL database: the settings it
// must have, how new connections read a changed password, which commits are never cancelled, and
// which errors a retry may not have.
package pgurl
