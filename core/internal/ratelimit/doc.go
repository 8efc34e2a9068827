// Package ratelimit bounds how many requests a second one API key may make, and all keys of one
// merchant together. It also bounds the requests of a client address with publishable keys. Each
// has a token bucket in memory.
package ratelimit
