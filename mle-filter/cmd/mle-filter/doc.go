// Command mle-filter serves message-level encryption in front of a v1 service. Its other commands
// let a merchant encrypt and decrypt by hand. Run it with --help.
package main
