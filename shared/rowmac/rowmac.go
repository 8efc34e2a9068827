// Package rowmac makes the codes by which programs recognize the rows that they made. A program
// that can write the database, but does not have the key, can neither make such a row nor change
// one.
package rowmac

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Of returns the HMAC-SHA-256 of a row's fields under key. Each use of a key has another name, so
// that a code of one table is worthless in another. The length of each field is part of the code,
// so that no bytes can move between fields.
func Of(key []byte, use string, fields ...string) []byte {
	h := hmac.New(sha256.New, key)
	put := func(field string) {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(field)))) // a hash accepts every write
		_, _ = h.Write([]byte(field))
	}
	put(use)
	for _, field := range fields {
		put(field)
	}
	return h.Sum(nil)
}
