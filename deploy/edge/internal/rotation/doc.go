// Package rotation rotates certificates. A new one is published ahead, and served at the published
// time. It is published as live once every listener serves it.
//
// The disk has each certificate before it is served. So a restart at any line continues, and pushes
// only changes. A refusal, by this package or by a listener, leaves the previous certificate.
package rotation
