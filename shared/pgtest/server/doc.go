// Package server starts a PostgreSQL server from the programs of Debian's package, and stops it
// again, for tests and benchmarks.
package server
