// Package postgres opens a key store on PostgreSQL. A program with an SQLite store needs neither
// this package nor the driver.
package postgres
