// Package pgurl holds the rules that all programs apply to a PostgreSQL database. They are the
// settings it must have, how new connections read a changed password, and how commits are kept from
// being cancelled. They also classify the server's errors.
package pgurl
