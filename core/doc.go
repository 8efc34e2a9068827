// Package core is the v1 service: payments, their store, and the acquirers that move the money. It
// does not depend on the legacy dialects, which the proxy translates.
//
// Open starts a core on a data folder or a database, Handler serves v1, and Close stops the core.
package core
