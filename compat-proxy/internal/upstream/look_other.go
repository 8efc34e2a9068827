//go:build !unix

package upstream

import "errors"

// errNothing: there is nothing to read yet.
var errNothing = errors.New("nothing to read")

// readNow can not look here: a broken connection is noticed when it is written to.
func readNow(uintptr, []byte) (int, error) { return 0, errNothing }
