// Package tlspolicy is the one place that says which TLS our listeners speak, and our clients: a table, in table.go, of versions, cipher suites
// and signature algorithms. From it come the configurations of Go's crypto/tls, what Envoy is told in Envoy's words, the narrower policies that an
// operator may ask for, and the description by which the world learns of a change.
//
// What the table leaves to each implementation, on purpose: the groups of the key exchange, so that new ones (X25519MLKEM768 today) come with an
// upgrade and nobody has to know them here. Sessions are never resumed: tickets outlive the keys of a connection, and so weaken what ECDHE is for.
package tlspolicy
