// Package goldentest runs the golden cases of the dialects. It has a scripted v1, records the
// decoded commands, and compares them with files that `go test -update` writes.
package goldentest
