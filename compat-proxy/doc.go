// Package compatproxy takes the requests of legacy payment clients and turns them into v1 calls, so that those clients reach
// Causeway unchanged.
//
// The proxy keeps no truth: everything it knows is in the request, in its configuration, or in v1. Kill it at any moment or run
// ten of them, and no payment is lost, moved twice or forgotten.
package compatproxy
