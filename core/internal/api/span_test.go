package api_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// spans has everything that a service exported to a collector, and the exporter's log.
type spans struct {
	collector *telemetrytest.Collector
	log       *programtest.Log
	providers []*export.Provider
}

// setupTraced opens a service that exports every span to a collector.
func setupTraced(t *testing.T) (*bundle, *spans) {
	t.Helper()
	b := &bundle{rateLimit: -1}
	s := b.trace(t)
	return openBundle(t, b), s
}

// trace makes the service export its spans from its next start on.
func (b *bundle) trace(t *testing.T) *spans {
	t.Helper()
	s := &spans{collector: telemetrytest.New(t), log: &programtest.Log{}}
	p := s.open(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": s.collector.URL, "OTEL_BSP_MAX_QUEUE_SIZE": "100000", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "512",
	})
	b.tracer = p.Tracer("core")
	return s
}

func (s *spans) open(t *testing.T, vars map[string]string) *export.Provider {
	t.Helper()
	p, err := export.Open(t.Context(), export.Config{
		Getenv: func(name string) string { return vars[name] }, Service: "core", Log: slog.New(slog.NewJSONHandler(s.log, nil)), Console: s.log,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.providers = append(s.providers, p)
	t.Cleanup(func() { p.Close(t.Context()) })
	return p
}

// flush sends the spans so far; later spans are lost.
func (s *spans) flush(t *testing.T) {
	t.Helper()
	for _, p := range s.providers {
		p.Close(t.Context())
	}
}

// all returns every byte that was exported, once the service has stopped.
func (s *spans) all(t *testing.T) []byte {
	t.Helper()
	s.flush(t)
	if got := len(s.collector.Spans()); got < 50 {
		t.Errorf("only %d spans have come: %s", got, s.log)
	}
	return append(s.collector.Bytes(), s.log.String()...)
}

// TestPassesHaveSpans: settlement, expiry and recovery leave a span if there was something to do,
// and none otherwise. The calls of recovery to the acquirer are below its span.
func TestPassesHaveSpans(t *testing.T) {
	t.Parallel()
	b := setupWith(t, MustHurryCatalogue(t, 20*time.Millisecond))
	b.MustCreate(t, 100, "")
	b.MustCreate(t, 100, manual)
	lost := b.stopWithALostPayment(t)
	b.clock.Advance(8 * 24 * time.Hour)
	b.database.MustConfirm(t, b.clock)
	first := b.trace(t)
	b.start(t)
	b.resolved(t, lost)
	programtest.WaitFor(t, "both passes have run", func() bool {
		return b.countEvents(t, "transaction.expired") == 1 && b.countEvents(t, "transaction.settled") == 1
	})
	passed := func(name string) string {
		return `pass_last_success_timestamp_seconds\{pass="` + name + `"\} 1.7959446e\+09`
	} // eight days on
	b.wantSeries(t, passed("expiry"), passed("settlement"))
	b.restart(t) // finds nothing
	b.wantSeries(t, passed("expiry"))
	b.stop(t)
	first.flush(t)
	for name, want := range map[string][2]string{"settlement": {"1", "1"}, "expiry": {"1", "1"}, "recovery": {"1", "1"}} {
		got := first.collector.Named(name)
		if len(got) != 1 || got[0].Parent != "" || got[0].Failed || got[0].Kind != "internal" {
			t.Errorf("%s: got %+v, want one root span", name, got)
			continue
		}
		if a := got[0].Attributes; a["causeway.objects"] != want[0] || a["causeway.objects_done"] != want[1] {
			t.Errorf("%s: got %v, want %v objects", name, a, want)
		}
	}
	asked := first.collector.Named("acquirer inquire")
	if roots := first.collector.Named("recovery"); len(asked) != 1 || len(roots) != 1 || asked[0].Parent != roots[0].SpanID {
		t.Errorf("got %+v below %+v, want the inquiry as a child", asked, roots)
	}
	if text := string(first.collector.Bytes()); strings.Contains(text, b.merchant) || strings.Contains(text, lost) {
		t.Error("a span names a merchant or an object")
	}
	b.tracer = nil
	b.start(t)
}

// stopWithALostPayment makes a payment without an outcome, and stops the service before it can find
// one. If the payment is resolved sooner, it is voided, and the test makes another one.
func (b *bundle) stopWithALostPayment(t *testing.T) string {
	t.Helper()
	for {
		lost := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_timeout_after_effect", "")),
			refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""}).Transaction.ID
		b.stop(t)
		if b.number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'unknown'") == 1 {
			return lost
		}
		b.start(t)
		MustDecode[v1.Transaction](t, b.void(t, lost), 200)
	}
}
