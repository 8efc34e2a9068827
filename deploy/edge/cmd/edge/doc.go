// Command edge configures the Envoys in front of the service, keeps their certificates, and tells the world about these. Run it with --help.
package main
