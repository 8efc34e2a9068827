// Package install installs a real Envoy, held still by its requirements file, for tests and
// benchmarks.
package install
