// Package shell holds what the transports around the engine have in common: what they are made of, their own problems and how these are
// answered, the routes of v1 for logs, metrics and spans, and what of a request is counted. It knows no transport itself, so that a program
// links only those that it serves.
package shell
