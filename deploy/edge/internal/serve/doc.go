// Package serve is the Delta ADS server: it knows its nodes, counts what they refuse, and says when all of them have a version.
//
// State-of-the-world streams are refused: by them go-control-plane forgets a watch when a resource appears that nobody asked for (its issue 1356),
// and a certificate that is pushed later never arrives.
//
// A node says one no to a delivery of several resources, and takes those that are good all the same. So each of them is sent to it once more, alone:
// then it is known what it has, and what it does not. Who waits for a change is told of refusals of what changed, and of no others.
package serve
