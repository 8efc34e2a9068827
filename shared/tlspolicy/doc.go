// Package tlspolicy defines the TLS of our listeners and of our clients. A table, in table.go, has
// the versions, cipher suites and signature algorithms. The package derives from it the
// configurations of Go's crypto/tls and of Envoy, and the narrower policies that an operator can
// choose. It also derives the description that shows a change.
//
// The table leaves the groups of the key exchange to each implementation. So new groups
// (X25519MLKEM768 today) come with an upgrade and need no entry here. Sessions are never resumed,
// because tickets outlive the keys of a connection and so weaken the forward secrecy of ECDHE.
package tlspolicy
