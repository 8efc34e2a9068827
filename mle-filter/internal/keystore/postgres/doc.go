// Package postgres opens a store of keys on PostgreSQL. A program that keeps keys in a file does
// without it, and without the driver.
package postgres
