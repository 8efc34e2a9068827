package requirement_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/requirement"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const list = `{"object":"list","has_more":false,"data":[
	{"object":"mle_requirement","id":"mlr_0000000000001",
	"endpoints":["POST /v1/tokens","POST /v1/transactions/{id}/confirm"],
	"announced_at":"2026-11-29T00:00:00.000Z","effective_at":"2027-12-01T00:00:00.000Z"},
	{"object":"mle_requirement","id":"mlr_0000000000002","endpoints":["PATCH /v1/customers/{id}"],
	"announced_at":"2026-11-30T00:00:00.000Z","effective_at":"2028-01-01T00:00:00.000Z"}]}`

// source runs a source in front of a core that sends body.
func source(t *testing.T, body *atomic.Value) *requirement.Source {
	t.Helper()
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := body.Load().(string)
		if r.URL.Path != requirement.Path || text == "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(core.Close)
	s := requirement.New(requirement.Config{
		V1: core.URL + "/", Client: core.Client(), Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return s
}

// TestInForce checks the requests that requirements apply to, before and from their dates.
func TestInForce(t *testing.T) {
	t.Parallel()
	var body atomic.Value
	body.Store(list)
	s := source(t, &body)
	programtest.WaitFor(t, "the requirements are read", func() bool { return len(s.All()) == 2 })
	first := time.Date(2027, 12, 1, 0, 0, 0, 0, time.UTC)
	second := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		method, path string
		at           time.Time
		want         bool
	}{
		{"POST", "/v1/tokens", first.Add(-time.Millisecond), false},
		{"POST", "/v1/tokens", first, true},
		{"POST", "/v1//tokens/", first, true},
		{"POST", "/v1/%74okens", first, true},
		{"GET", "/v1/tokens", first, false},
		{"POST", "/v1/tokens/tok_1", first, false},
		{"POST", "/v1/transactions/txn_1/confirm", first, true},
		{"POST", "/v1/transactions", second, false},
		{"PATCH", "/v1/customers/cus_1", first, false},
		{"PATCH", "/v1/customers/cus_1", second, true},
	} {
		if got := s.InForce(tt.method, tt.path, tt.at); got != tt.want {
			t.Errorf("%s %s at %s: got %v", tt.method, tt.path, tt.at, got)
		}
	}
}

// TestCoreStartsLater checks that the requirements are read although core fails at first or sends
// an invalid list.
func TestCoreStartsLater(t *testing.T) {
	t.Parallel()
	for _, before := range []string{
		"", "{", `{"object":"list","has_more":false,"data":[{"object":"mle_requirement","id":"mlr_1","endpoints":["x"],` +
			`"announced_at":"2026-11-29T00:00:00.000Z","effective_at":"2027-12-01T00:00:00.000Z"}]}`,
	} {
		var body atomic.Value
		body.Store(before)
		s := source(t, &body)
		if got := s.All(); len(got) != 0 {
			t.Errorf("%q: got %v", before, got)
		}
		body.Store(list)
		programtest.WaitFor(t, "the requirements are read", func() bool { return len(s.All()) == 2 })
	}
}
