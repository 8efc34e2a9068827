// Package compatproxy converts the requests of legacy payment clients to v1 calls, so that existing
// clients can use Causeway unchanged.
//
// The proxy has no persistent state. All it needs is in the request, in its configuration, or in
// v1. Any number of proxies may run, and each may be killed at any moment. No payment is lost or
// made twice.
package compatproxy
