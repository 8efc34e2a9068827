// Command compat-proxy serves legacy payment clients on behalf of a v1 service. Run it with --help.
package main
