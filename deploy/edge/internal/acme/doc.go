// Package acme gets certificates from an authority by ACME, and renews them in time.
package acme
