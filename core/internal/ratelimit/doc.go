// Package ratelimit bounds the requests per second of one API key, and of all keys of one merchant
// together. It also bounds the requests of a client address with publishable keys. Each has a token
// bucket in memory. Declines bounds the declined confirmations per hour.
package ratelimit
