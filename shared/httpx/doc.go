// Package httpx holds the habits of our HTTP servers: an id and exactly one log event for every request, panics that end in
// an answer, bounded concurrency, bounded bodies, and a listener that starts, drains and stops.
//
// The usual order, outermost first: RequestID, ClientAddress, Trace, LogRequests, SecurityHeaders,
// Recover, Limit, the routes.
package httpx
