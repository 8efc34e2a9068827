// Package acmetest runs a real ACME authority for tests: Pebble, the test server of Let's Encrypt,
// built once from the Go module proxy. It validates over ports that the test chooses, and needs no
// network at run time.
package acmetest
