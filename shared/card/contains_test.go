package card_test

import (
	"crypto/rand"
	"encoding/hex"
	"testing"

	"github.com/causeway-pay/causeway/shared/card"
)

func TestContains(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"4111111111111111":                 true,
		"00000000000000004111111111111111": true,
		"41111111111111110000000000000000": true,
		"ab378282246310005cd":              true, // 15 digits
		"x6759649826438453x":               true,
		"4444444444444444":                 false, // no part of it has the check digit
		"4111111111111112":                 false, // another check digit
		"9111111111111118":                 false, // no brand
		"411111111111111":                  false, // a digit less
		"400000000002":                     false, // the brand has no number as short
		"0000000000000000":                 false, // no brand
		"4111a111111111111111":             false,
		"4bf92f3577b34da6a3ce929d0e0e4736": false,
		"":                                 false,
	} {
		if got := card.Contains(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestContainsSparesRandomIDs: random ids, which traces have, hold a card number by chance only
// rarely.
func TestContainsSparesRandomIDs(t *testing.T) {
	t.Parallel()
	found := 0
	for range 20_000 {
		var id [16]byte
		_, _ = rand.Read(id[:]) // it never fails
		if card.Contains(hex.EncodeToString(id[:])) {
			found++
		}
	}
	if found > 200 { // 1 %
		t.Errorf("got %d of 20,000 ids, want less than 200", found)
	}
}
