// Package goldentest runs the golden cases of the dialects: a scripted v1, the commands that a request was decoded to, and files that
// `go test -update` writes.
package goldentest
