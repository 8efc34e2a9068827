// Package postgres gives core a store on PostgreSQL, which any number of cores share. It is a
// separate package, so that a program with a store in a file contains no driver.
package postgres
