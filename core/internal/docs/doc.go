// Package docs shows the contract: as JSON for programs, and as one page for people. Both are made
// from the OpenAPI document, the error table and the simulator's catalogue at the first request. So
// they cannot differ from the service. The guides of core/docs/guides have a page each, made in the
// same way. The pages load nothing from anywhere else. Their one script fills the reader's test key
// into the examples, copies them and searches. Everything else works without it.
package docs
