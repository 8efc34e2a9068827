package id_test

import (
	"math/bits"
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
)

// TestRandomIsUnrelated: consecutive ids differ in about half of their 63 bits, and no id occurs
// twice.
func TestRandomIsUnrelated(t *testing.T) {
	t.Parallel()
	const rounds = 4096
	seen := map[int64]bool{}
	last, flipped := int64(0), 0
	for range rounds {
		n, err := id.Parse(id.Request, id.Random(id.Request))
		if err != nil || seen[n] {
			t.Fatalf("got %d, %v; seen before: %t", n, err, seen[n])
		}
		flipped += bits.OnesCount64(uint64(n ^ last))
		seen[n], last = true, n
	}
	if mean := float64(flipped) / rounds; mean < 30 || mean > 33 {
		t.Errorf("bits that differ between two ids: got %.1f of 63 on average, want about 31.5", mean)
	}
}
