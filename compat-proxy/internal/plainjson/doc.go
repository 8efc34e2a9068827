// Package plainjson reads most responses of v1 in half the time of a general decoder. It takes JSON
// that is compact, ASCII, without escapes, and with known members only. It also writes requests to
// v1 and responses to clients, for types that it supports whole. Anything else it leaves to
// go-json-experiment. Fuzz tests compare both with that library.
package plainjson
