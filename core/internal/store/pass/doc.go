// Package pass holds the background passes over the rows of many merchants. A row that fails is
// skipped and reported, so that it delays no other.
package pass
