// Package serve is the Delta ADS server: it knows its nodes, counts what they refuse, and says when all of them have a version.
//
// State-of-the-world streams are refused: by them go-control-plane forgets a watch when a resource appears that nobody asked for (its issue 1356),
// and a certificate that is pushed later never arrives.
package serve
