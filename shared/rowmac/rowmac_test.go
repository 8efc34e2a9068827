package rowmac_test

import (
	"bytes"
	"testing"

	"github.com/causeway-pay/causeway/shared/rowmac"
)

// TestOf: the key, the use, and each field with its limits decide.
func TestOf(t *testing.T) {
	t.Parallel()
	code := rowmac.Of([]byte("key"), "use", "ab", "c")
	if !bytes.Equal(code, rowmac.Of([]byte("key"), "use", "ab", "c")) || len(code) != 32 {
		t.Errorf("got %x for the same row", code)
	}
	for what, other := range map[string][]byte{
		"another key":      rowmac.Of([]byte("other"), "use", "ab", "c"),
		"another use":      rowmac.Of([]byte("key"), "us", "eab", "c"),
		"a moved byte":     rowmac.Of([]byte("key"), "use", "a", "bc"),
		"an empty field":   rowmac.Of([]byte("key"), "use", "ab", "c", ""),
		"a field less":     rowmac.Of([]byte("key"), "use", "abc"),
		"the fields alone": rowmac.Of([]byte("key"), "", "useab", "c"),
	} {
		if bytes.Equal(code, other) {
			t.Errorf("%s has the same code", what)
		}
	}
}
