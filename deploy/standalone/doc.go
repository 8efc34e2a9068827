// Standalone runs everything in one process: v1, the legacy doors before it, and HTTPS by a development authority. It is for a
// developer's machine, for tests, for benchmarks and for tools; all it needs is one folder, which it fills itself.
//
// Start here: Main in standalone.go opens each part in order and closes them in the reverse order.
package main
