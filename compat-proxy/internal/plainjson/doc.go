// Package plainjson reads the JSON that v1 mostly answers with in half the time of a general decoder: compact, ASCII, without escapes,
// and with known members only. It also writes what is sent to v1 and to clients, of types that it knows whole. Anything else it leaves to
// go-json-experiment, to which both are held by fuzz tests.
package plainjson
