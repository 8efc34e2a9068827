// Package httpx holds the behaviour that our HTTP servers share. Each request gets an id and
// exactly one log event, and a panic ends in a response. Concurrency and bodies are bounded. A
// listener starts, drains and stops.
//
// The usual order, outermost first: RequestID, ClientAddress, Trace, LogRequests, SecurityHeaders,
// Recover, Limit, the routes.
package httpx
