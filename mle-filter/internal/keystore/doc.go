// Package keystore keeps keys, what is to be said of them, and what was answered about them: in SQLite for one filter or several on one
// machine, in PostgreSQL for filters on many. It knows rows and no keys: what it is given is encrypted already.
package keystore
