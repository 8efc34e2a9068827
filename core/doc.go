// Package core is the v1 service: payments, their store, and the acquirers that move the money. It knows nothing of the legacy
// dialects that the proxy translates.
//
// Open starts it on a data folder, Handler serves it, Close ends it.
package core
