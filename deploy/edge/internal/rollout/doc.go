// Package rollout distributes configurations and certificates to all Envoys, and reports when a
// certificate is really served.
//
// A new certificate is first published as the next one. Then it is pushed under the same name,
// acknowledged by every node and seen in a handshake. Only then is it published as live. The disk
// has each certificate before it is pushed. So a restart at any line continues, and pushes only
// changes. A refusal, by this package or by an Envoy, leaves the previous certificate.
package rollout
