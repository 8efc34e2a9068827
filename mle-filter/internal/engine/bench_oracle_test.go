package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// BenchmarkOracle compares how long two rejections take: of a content key that the private key
// cannot decrypt, and of a wrong tag. It reports the ratios of the 5th percentiles and of the
// medians, measured in turn. With a ratio of 1, a client learns nothing. The body is large, because
// an early return of go-jose is then easiest to measure.
func BenchmarkOracle(b *testing.B) {
	for _, alg := range []engine.Alg{engine.RSAOAEP256, engine.ECDHESA256KW} {
		b.Run(string(alg), func(b *testing.B) {
			key := enginetest.NewKey(b, alg, 2048)
			ring := &enginetest.Ring{}
			ring.Add(enginetest.Merchant, key)
			x := mustNeedBody(b, mustEngine(b, engine.Config{Keys: ring}))
			text := strings.Repeat("x", 64<<10)
			wrong := func(segment int) []byte {
				return []byte(
					enginetest.Forge{Key: key, Parts: func(p *[5][]byte) { p[segment][len(p[segment])-1] ^= 1 }}.Encrypt(b, text),
				)
			}
			sides := [2][]byte{wrong(enginetest.SegmentKey), wrong(enginetest.SegmentTag)}
			var took [2][]time.Duration
			for i := 0; b.Loop(); i++ {
				for k := range sides {
					side := (i + k) % len(sides)
					took[side] = append(took[side], refusalTime(b, x, sides[side]))
				}
			}
			for _, percent := range []int{5, 50} {
				ratio := float64(percentile(took[0], percent)) / float64(percentile(took[1], percent))
				b.ReportMetric(ratio, fmt.Sprintf("p%d-ratio", percent))
			}
		})
	}
}

func refusalTime(b *testing.B, x *engine.Exchange, sent []byte) time.Duration {
	b.Helper()
	now := clock.System()
	start := now.Now()
	_, p := x.Unwrap(b.Context(), sent)
	took := now.Now().Sub(start)
	if p == nil || p.Reason != "decrypt" {
		b.Fatalf("got %+v, want a decrypt failure", p)
	}
	return took
}

func percentile(d []time.Duration, percent int) time.Duration {
	slices.Sort(d)
	return d[len(d)*percent/100]
}
