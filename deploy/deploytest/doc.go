// Package deploytest has no code: its tests hold what puts Causeway on machines, beside this folder, to what the programs are. They build the images,
// load the manifests by the types of those who will read them, start the real programs by the settings that are shipped, and compare every
// metric that a rule or a chart names with what the programs export.
//
// It is a module of its own, so that no program of ours links what only these tests need.
package deploytest
