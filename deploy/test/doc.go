// Package test has no code. The packages below it start our programs, as on any machine, and look
// at them from outside. README.md lists them.
//
// They are one module with the benchmarks, so that no program links a library that only tests need.
package test
