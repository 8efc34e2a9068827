// Package shell holds what the transports around the engine have in common: what they are made of, and what they tell of a request. It knows
// no transport itself, so that a program links only those that it serves.
package shell
