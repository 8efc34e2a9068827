// Standalone runs all of Causeway in one process: v1, the legacy endpoints, and HTTPS with a
// development authority. It is for development, tests, benchmarks and tools. It needs one folder,
// and creates all files in it.
//
// Start here: Main in standalone.go opens each part in order and closes them in the reverse order.
package main
