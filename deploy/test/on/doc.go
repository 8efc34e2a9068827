// Package on has no code: its tests hold deploy/on to the programs. They build the images, load the
// manifests by the types of their readers, start the real programs by the settings that are shipped,
// and compare every metric of a rule or a chart with the exported ones.
package on
