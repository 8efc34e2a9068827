// Package root holds the root secrets of a store. From their versions, core derives the keys of API
// key hashes, stored responses and client secrets. Lasting keys are for values that must never
// change.
package root
