// Package acquirertest has the conformance test of acquirers. The tests of each acquirer call it.
package acquirertest
