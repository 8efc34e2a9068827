// Package postgres gives core a store on PostgreSQL, which any number of cores share. It is a package of its own, so that a program that keeps its
// store in a file carries no driver.
package postgres
