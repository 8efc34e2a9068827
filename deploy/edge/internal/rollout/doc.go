// Package rollout brings configurations and certificates to all Envoys, and says when a certificate is really served.
//
// A new certificate is published as the next one first, then pushed under the same name, acknowledged by every node and seen in a handshake; only then
// is it told to be live. What is pushed is on the disk before: a restart at any line goes on where it was, and pushes nothing that has not changed.
// Whatever is refused, here or by an Envoy, leaves what was served before.
package rollout
