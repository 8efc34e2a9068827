package move_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
	"github.com/causeway-pay/causeway/shared/clock"
)

// BenchmarkMove moves b.N payments of six rows each: -benchtime 100000x. It tells how many rows a second are copied, and how long the source is
// closed for a million rows.
func BenchmarkMove(bm *testing.B) {
	b := setup(bm)
	b.fill(bm)
	const batch = 100_000
	for from := 0; from < bm.N; from += batch {
		b.pay(bm, 1000+from, min(batch, bm.N-from))
	}
	cfg := b.config()
	cfg.Clock = clock.System()
	m, err := move.Open(bm.Context(), cfg)
	if err != nil {
		bm.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			bm.Error(err)
		}
	}()
	bm.ResetTimer()
	begun := cfg.Clock.Now()
	moved, err := m.Ahead(bm.Context())
	if err != nil {
		bm.Fatal(err)
	}
	copied := cfg.Clock.Now()
	if _, err := m.Finish(bm.Context(), store.Luggage{}); err != nil {
		bm.Fatal(err)
	}
	ended := cfg.Clock.Now()
	var rows float64
	for _, t := range moved {
		rows += float64(t.Rows)
	}
	bm.ReportMetric(rows/copied.Sub(begun).Seconds(), "rows/s")
	bm.ReportMetric(ended.Sub(copied).Seconds()/rows*1e6, "s-closed/Mrow")
	bm.ReportMetric(float64(copied.Sub(begun)/time.Millisecond), "ms-copy")
}
