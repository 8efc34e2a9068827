// Package pgurl holds the rules that all programs apply to a PostgreSQL database. They are the
// settings it must have, and how new connections read a changed password.
package pgurl
