//go:build !unix

package upstream

import "errors"

// errNothing: there is nothing to read yet.
var errNothing = errors.New("nothing to read")

// readNow cannot read without waiting here. A write reports a broken connection.
func readNow(uintptr, []byte) (int, error) { return 0, errNothing }
