// Package edge publishes the certificates of a program with its own listener: the fingerprints, the
// calendar and the events. A Rotator keeps these and the listener at the same certificate. The
// control plane of Envoy is command edge.
package edge
