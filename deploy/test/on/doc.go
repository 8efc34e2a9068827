// Package on has only tests. They compare deploy/on with the programs. They build the images, load
// the manifests by the types of their readers, and start the real programs with the settings there.
// They also compare every metric of a rule or a chart with the exported ones.
package on
