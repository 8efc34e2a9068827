// Command passthrough is the yardstick of P5: net/http's reverse proxy, which does nothing, with compat-proxy's server and transport
// settings, and its setting of the garbage collector.
package main
