// Package serve builds, starts and stops the programs that are measured, each as a process of its own with its default settings, its
// data on a real disk and its log in a file, as in production.
package serve
