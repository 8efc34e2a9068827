// Package edgetest has no code: its tests put the real programs, built, behind a real Envoy that the edge program configures, and look at all of it
// from outside, as clients do: the official clients of both legacy dialects, JOSE libraries, openssl and testssl.sh, a calendar's library.
//
// It is a module of its own, so that the edge links nothing of what only these tests need. What one package of the edge does is tested beside it.
package edgetest
