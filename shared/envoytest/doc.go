// Package envoytest installs a real Envoy for tests, held still by its requirements file, and runs it.
package envoytest
