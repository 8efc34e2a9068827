// Package bare writes the rows of payments into a database file without a payments service: the
// fastest honest loop, and the yardstick of the service. It copies the schema from the file of a
// server, and the values from one payment that the server made. Only ids and keys vary. It has no
// HTTP, no JSON and no savepoints.
//
// It repeats the statements of core/internal/store, because a change of the store must not change
// the yardstick unnoticed. Check proves them: it writes the learned payment with its own ids and
// compares every table, row and column with the rows of the server.
package bare
