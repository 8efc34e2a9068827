// Package fill adds many copies of a payment to a store of core, on SQLite or PostgreSQL. The
// copies are written by SQL, past core, and differ in the columns in which the payments of a busy
// store differ.
package fill
