// Package root holds the root secrets of a store: the versions from which core derives the keys of
// API key hashes, stored responses and client secrets, and the lasting keys of values that must
// stay the same for ever.
package root
