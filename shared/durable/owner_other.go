//go:build !unix

package durable

import "os"

// giveTo does nothing: here files have no owner in the sense of unix.
func giveTo(*os.File, ...string) error { return nil }

// giveFolder does nothing, as giveTo.
func giveFolder(string) error { return nil }
