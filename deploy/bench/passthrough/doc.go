// Command passthrough is the yardstick of P5: the reverse proxy of net/http, which does nothing, on
// the transport of net/http. It has compat-proxy's server settings, connection limits and garbage
// collector settings.
package main
