// Package serve is the Delta ADS server. It tracks its nodes and their refusals, and reports when
// all of them have a version.
//
// It rejects state-of-the-world streams. For them go-control-plane forgets a watch when an
// unsubscribed resource appears (its issue 1356), and a certificate pushed later never arrives.
//
// A node refuses a delivery of several resources as a whole, but applies the valid ones. So the
// server sends each of them again, alone, to find out which ones the node has. A caller that waits
// for a change gets the refusals of the changed resources only.
package serve
