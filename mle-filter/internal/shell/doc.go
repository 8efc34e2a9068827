// Package shell holds the parts that the transports around the engine share. They are their
// configuration, their problems and responses, the routes of v1 for logs, metrics and spans, and
// the counts of requests. It imports no transport, so that a program links only the transports that
// it serves.
package shell
