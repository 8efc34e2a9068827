// Package probe answers the two commands that whoever runs our programs asks of all of them: health and version. A container without a shell has
// nothing else to be asked by.
package probe
