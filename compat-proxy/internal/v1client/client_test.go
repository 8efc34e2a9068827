package v1client_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var key = secret.New("sk_test_key")

// clientOf returns a client of a v1 that has the handler.
func clientOf(t *testing.T, now clock.Clock, h http.HandlerFunc) *v1client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := v1client.New(v1client.Config{
		URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond, Clock: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCall: a call is repeated until the response is final. The last response proves an effect, no
// effect, or nothing.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status         int
		code           string
		attempts       int
		mayHaveReached bool
		settles        bool
	}{
		{200, "", 1, false, true},
		{400, v1.CodeMissingField, 1, false, true},
		{402, "card_declined", 1, false, true},
		{404, "not_found", 1, false, true},
		{409, v1.CodeKeyInUse, 4, true, false},
		{422, v1.CodeKeyReused, 1, false, false},
		{429, v1.CodeRateLimited, 1, false, false},
		{429, v1.CodeTooManyChanges, 4, false, false},
		{500, "internal_error", 1, true, false},
		{502, "", 4, true, false},
		{502, v1.CodeOutcomeUnknown, 1, true, false},
		{502, v1.CodeNotProcessed, 1, false, false},
		{503, "overloaded", 4, false, false},
		{503, "store_unavailable", 4, true, false},
		{503, v1.CodeAcquirerUnavailable, 1, false, false},
		{504, "", 4, true, false},
	} {
		t.Run(fmt.Sprint(tt.status, tt.code), func(t *testing.T) {
			t.Parallel()
			attempts := 0
			c := clientOf(t, nil, func(w http.ResponseWriter, _ *http.Request) {
				attempts++
				w.WriteHeader(tt.status)
				_, _ = fmt.Fprintf(w, `{"error":{"code":%q}}`, tt.code)
			})
			resp := c.Call(t.Context(), func(ctx context.Context) (*http.Response, error) {
				return c.API.GetRefund(ctx, "re_1", nil, c.As(key))
			})
			if resp.Status != tt.status || attempts != tt.attempts || resp.MayHaveReached != tt.mayHaveReached ||
				resp.Settles() != tt.settles {
				t.Errorf("got %d attempts and %+v, want %+v", attempts, resp, tt)
			}
		})
	}
}

// TestAPIKey: a key is read again when it is five seconds old. A key that v1 refuses is not cached.
func TestAPIKey(t *testing.T) {
	t.Parallel()
	now, reads, known := clock.NewFake(time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)), 0, false
	c := clientOf(t, now, func(w http.ResponseWriter, r *http.Request) {
		reads++
		if got := r.Header.Get("Authorization"); got != "Bearer sk_test_key" {
			t.Errorf("got %q", got)
		}
		if !known {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test"}`)
	})
	for i, step := range []struct {
		after time.Duration
		known bool
		reads int
	}{
		{0, false, 1}, {0, true, 2}, {5*time.Second - 1, true, 2}, {1, true, 3}, {0, false, 3},
	} {
		now.Advance(step.after)
		known = step.known
		info, _, ok := c.APIKey(t.Context(), key)
		_, seen := c.SeenAPIKey(key)
		if ok != (i > 0) || seen != ok || ok && info.Merchant != "mer_1" || reads != step.reads {
			t.Errorf("step %d: got %+v, %v after %d reads, want %d", i, info, ok, reads, step.reads)
		}
	}
}

// TestClientGone: an attempt that ends with the client of the legacy request is no failure of v1.
// It is neither observed nor logged.
func TestClientGone(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hangUp()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	var seen []v1client.Call
	var log bytes.Buffer
	c, err := v1client.New(v1client.Config{
		URL: server.URL, Transport: server.Client().Transport, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Observe: func(call v1client.Call) { seen = append(seen, call) },
	})
	if err != nil {
		t.Fatal(err)
	}
	resp := c.Call(ctx, func(ctx context.Context) (*http.Response, error) {
		return c.API.GetRefund(ctx, "re_1", nil, c.As(key))
	})
	if resp.Status != 0 || len(seen) != 0 || log.Len() != 0 {
		t.Errorf("got status %d, observed %v, logged %q", resp.Status, seen, log.String())
	}
}
