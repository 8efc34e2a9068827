// Package serve is the Delta ADS server: it knows its nodes, counts what they refuse, and says when all of them have a version.
package serve
