// Command passthrough is the yardstick of P5: net/http's reverse proxy, which does nothing, on net/http's transport, with compat-proxy's
// server settings, its limits of connections and its setting of the garbage collector.
package main
