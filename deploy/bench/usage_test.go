package bench_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestOthersAreWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	from := bench.NewUsage(10, 50, 3*time.Second)
	for name, c := range map[string]struct {
		to   bench.Usage
		want float64
		ok   bool
	}{
		"all ours":      {bench.NewUsage(13, 51, 6*time.Second), 0, true},
		"half of it":    {bench.NewUsage(12, 52, 4*time.Second), 0.25, true},
		"late children": {bench.NewUsage(11, 51, 9*time.Second), 0, true},
		"no time":       {from, 0, false},
		"unknown":       {bench.Usage{}, 0, false},
	} {
		got, ok := bench.Others(from, c.to)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: got %v %t, want %v %t", name, got, ok, c.want, c.ok)
		}
	}
}
