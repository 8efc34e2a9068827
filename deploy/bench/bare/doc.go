// Package bare writes the rows of payments into a database file without a payments service: the
// fastest honest loop, and the yardstick of the service. It has no HTTP, no JSON and no savepoints.
//
// It learns the schema and the rows from one payment of a real server, so it follows each change of
// the store. Only ids and keys vary from payment to payment.
package bare
