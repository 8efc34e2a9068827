// Package pgtest gives tests a PostgreSQL server that the test program starts for itself, from the
// programs of Debian's package, and stops again. It is for tests only.
package pgtest
