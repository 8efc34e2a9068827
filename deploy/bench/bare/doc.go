// Package bare writes the rows of payments into a database file without a payments service around them: the fastest honest loop, which
// the service is measured against. It has the real server's schema, copied from its file, and the real values of one payment that the
// server has made; only ids and keys vary. It knows no HTTP, no JSON and no savepoints.
//
// The statements are those of core/internal/store. They are written out again here because the comparison must not get faster or
// slower by itself when the store changes. Instead Check proves them: it writes the learned payment with its own ids and compares
// every table, row and column with what the server wrote.
package bare
