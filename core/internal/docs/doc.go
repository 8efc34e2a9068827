// Package docs shows the contract: as JSON for programs, and as one page for people. Both are made from the OpenAPI document, the error
// table and the simulator's catalogue when they are first asked for, so they cannot say anything else than the service does. The page
// loads nothing from anywhere else. Its one script fills the reader's test key into the examples, copies them and searches; all else
// works without it.
package docs
