// Package rollout distributes configurations and certificates to all Envoys, and reports when a
// certificate is really served. Every node has then acknowledged it, and a handshake presents it.
// Package rotation has the order of the steps.
package rollout
