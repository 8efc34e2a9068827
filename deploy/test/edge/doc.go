// Package edge has only tests. They put the real programs behind a real Envoy that the edge program
// configures, and check it from outside. The clients are the official ones of both legacy dialects,
// JOSE libraries, openssl, testssl.sh and a calendar library. Tests of a single package of the edge
// are in that package.
package edge
