package certfile_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// FuzzParse checks that an accepted pair is equal after it is read again. A refusal must fit into a
// log and not show the key.
func FuzzParse(f *testing.F) {
	at := time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, chain, key []byte) {
		// arithmetic with large keys is slow; in production the limit of the file's size bounds it
		if len(key) > 4096 {
			return
		}
		from := certfile.Files{Chain: "a.crt", Key: "a.key"}
		p, err := certfile.Parse(from, chain, key)
		if err != nil {
			if text := err.Error(); strings.ContainsAny(text, "\n\r\x00") || len(text) > 1000 {
				t.Fatalf("the reason does not fit a log: %q", text)
			}
			return
		}
		again, err := certfile.Parse(from, p.Chain, []byte(p.Key.Reveal()))
		if err != nil {
			t.Fatal(err)
		}
		if !again.Equal(p) || !bytes.Equal(again.Certificate.Certificate[0], p.Leaf().Raw) {
			t.Fatal("it reads differently the second time")
		}
		_, _ = certfile.Rules{Hosts: []string{"api.example.com"}}.Check(at, p) // any result, but no panic
	})
}
