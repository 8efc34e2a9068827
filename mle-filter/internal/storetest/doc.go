// Package storetest gives tests a store on each engine: SQLite in a folder of the test, and a
// PostgreSQL server that the test program starts. It is for tests only.
package storetest
