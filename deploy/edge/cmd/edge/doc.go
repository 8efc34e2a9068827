// Command edge configures the Envoys in front of the service, rotates their certificates, and
// publishes these. Run it with --help.
package main
