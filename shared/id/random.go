package id

import (
	"crypto/rand"
	"encoding/binary"
)

// Random returns an id of kind p whose 63 bits come from crypto/rand. Use it for names that clients
// see and that must not reveal the ids that a Generator draws at that time. These ids have no
// order.
func Random(p Prefix) string {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails: the runtime ends the program where there is no randomness
		if n := int64(binary.BigEndian.Uint64(b[:]) >> 1); n > 0 {
			return Format(p, n)
		}
	}
}
