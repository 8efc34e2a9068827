// Package probe implements the commands health and version of all our programs. A container without
// a shell offers no other probe.
package probe
