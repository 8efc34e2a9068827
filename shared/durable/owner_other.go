//go:build !unix

package durable

import "os"

// giveTo does nothing: on this system, files have no Unix owner.
func giveTo(*os.File, ...string) error { return nil }

// giveFolder does nothing, like giveTo.
func giveFolder(string) error { return nil }
