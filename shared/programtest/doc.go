// Package programtest is the process harness of all tests and benchmarks that start programs. It
// builds the programs of this repository once, starts them and waits until they are ready. It
// collects their logs, ends them in every way, and finds free addresses. It installs the tools that
// tests need into .cache. It is for tests only.
//
// It is in shared, because tests of core and mle-filter use it and must not import deploy.
package programtest
