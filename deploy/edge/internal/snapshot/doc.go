// Package snapshot makes the resources of a node, with a version of each kind made from its
// content.
package snapshot
