// Package serve builds, starts and stops the programs of the measurements. Each is a separate
// process with default settings, data on a real disk and a log file, as in production.
package serve
