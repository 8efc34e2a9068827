package bench_test

import (
	"testing"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestRowCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		12: "12", 10_000: "10 k", 999_000: "999 k", 2_500_000: "2.5 M", 10_000_000: "10 M",
	} {
		if got := bench.RowCount(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
