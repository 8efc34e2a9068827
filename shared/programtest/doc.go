// Package programtest builds programs of this repository for tests, starts them, and ends them in every way there is. It is for tests only.
package programtest
