// Command mle-filter serves message-level encryption in front of a v1 service, and lets a merchant try it by hand. Run it with --help.
package main
