// Package edge is what the edge tells the world about its certificates, for a program that has a listener of its own: the fingerprints, the
// calendar and the events, and what keeps all of these and the listener at the same certificate. The control plane of Envoy is command edge.
package edge
