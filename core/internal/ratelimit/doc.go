// Package ratelimit bounds how many requests a second one API key may make: a token bucket each, in
// memory.
package ratelimit
