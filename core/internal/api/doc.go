// Package api speaks v1 over HTTP: it decodes strictly, asks the engine or the store, and shows objects and errors in the contract's
// words. One noun is one file; error.go holds the one table from error code to type and status.
package api
