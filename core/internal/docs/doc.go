// Package docs shows the contract: as JSON for programs, and as one page for people. Both are made
// from the OpenAPI document, the error table and the simulator's catalogue at the first request. So
// they cannot differ from the service. The page loads nothing from anywhere else. Its one script
// fills the reader's test key into the examples, copies them and searches. Everything else works
// without it.
package docs
