// Package edge has no code: its tests put the real programs behind a real Envoy that the edge
// program configures, and look at all of it from outside, as clients do: the official clients of
// both legacy dialects, JOSE libraries, openssl and testssl.sh, a calendar library. Tests of a
// single package of the edge stand beside that package.
package edge
