// Package api serves v1 over HTTP. It decodes strictly, calls the engine or the store, and shows
// objects and errors in the contract's words. One noun is one file; error.go holds the one table
// from error code to type and status. The files operator*.go serve the operators' API, which uses
// the same helpers on another port.
package api
