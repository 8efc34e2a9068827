// Package acmetest runs a real authority for tests: Pebble, the test server of Let's Encrypt's people, built from the Go module proxy once. It validates
// for real, over ports of the machine that the test chooses, and needs no network when it runs.
package acmetest
