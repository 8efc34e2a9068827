// Package plainjson reads the JSON that v1 mostly answers with in half the time of a general decoder: compact, ASCII, without escapes,
// and with known members only. Anything else it leaves to go-json-experiment, to which it is held by a fuzz test.
package plainjson
