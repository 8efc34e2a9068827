// Package httpx holds the behaviour that our HTTP servers share. Each request gets an id and
// exactly one log event, and a panic ends in a response. A listener starts, drains and stops.
//
// The usual order, outermost first: RequestID, ClientAddress, Trace, LogRequests, SecurityHeaders,
// Recover, the middleware of package admission, the routes.
package httpx
