package mlefilter_test

import (
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// ready waits until a spare RSA key exists.
func (f *filter) ready(t *testing.T) {
	t.Helper()
	for f.send(t, f.Client(), "GET", "/v1/mle/keys/current?alg=RSA-OAEP-256", "").status == http.StatusServiceUnavailable {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClient runs the Go client through the filter, with both algorithms and both transports to
// core.
func TestClient(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mlefilter.Config){"over HTTP": nil, "in process": inProcess} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behind := &core{}
			f := open(t, func(c *mlefilter.Config) {
				if change != nil {
					change(c)
					c.Core = behind
				}
			})
			if change == nil {
				behind = f.core
			}
			own := f.register(t)
			f.ready(t)
			for _, alg := range []string{mle.ECDHESA256KW, mle.RSAOAEP256} {
				client := f.client(t, alg, own)
				if g := f.send(t, client, "POST", "/v1/transactions", sale); g.status != 201 || g.body != response ||
					g.header.Get("Content-Type") != "application/json" {
					t.Errorf("%s: got %d %v %s", alg, g.status, g.header, g.body)
				}
				if g := f.send(t, client, "GET", "/v1/transactions/txn_1", ""); g.status != 201 || g.body != response {
					t.Errorf("%s, no body: got %d %s", alg, g.status, g.body)
				}
				if g := f.send(t, f.client(t, alg, nil), "POST", "/v1/transactions", sale); g.status != 201 || g.body != response {
					t.Errorf("%s, response in the clear: got %d %s", alg, g.status, g.body)
				}
			}
			if g := f.send(t, f.Client(), "POST", "/v1/transactions", sale); g.status != 201 || g.body != response {
				t.Errorf("in the clear: got %d %s", g.status, g.body)
			}
			if got := strings.Join(behind.got(), "\n"); got != strings.TrimSpace(strings.Repeat(sale+"\n\n"+sale+"\n", 2)+sale) {
				t.Errorf("core got\n%s", got)
			}
			if log := f.log.String(); strings.Contains(log, pan) || strings.Contains(log, proof) ||
				!strings.Contains(log, `"route":"POST /v1/transactions"`) {
				t.Errorf("the log contains a card number or the secret, or lacks the requests: %s", log)
			}
		})
	}
}

// longQueue makes requests wait for a decryption slot, because the machine may be busy.
func longQueue(c *mlefilter.Config) { c.Limits.Queue = time.Minute }

// TestRotationUnderLoad rotates while clients pay. No request fails, even if the old key ends
// immediately.
func TestRotationUnderLoad(t *testing.T) {
	t.Parallel()
	const clients, payments, rotations = 8, 8, 10
	f := open(t, longQueue)
	own := f.register(t)
	var payers []*http.Client
	for i := range clients {
		payers = append(payers, f.client(t, []string{mle.ECDHESA256KW, mle.RSAOAEP256}[i%2], own))
	}
	f.ready(t)
	for i := range rotations {
		var pay sync.WaitGroup
		for _, client := range payers {
			pay.Go(func() {
				for range payments {
					if g := f.send(t, client, "POST", "/v1/transactions", sale); g.status != 201 || g.body != response {
						t.Errorf("got %d %s", g.status, g.body)
					}
				}
			})
		}
		body := []string{`{}`, `{"expires_in":0}`}[i%2]
		if g := f.send(t, f.Client(), "POST", "/v1/mle/keys/rotate", body); g.status != 200 {
			t.Errorf("rotate: got %d %s", g.status, g.body)
		}
		pay.Wait()
	}
	if got := len(f.core.got()); got != clients*payments*rotations {
		t.Errorf("core got %d payments, want %d: each once", got, clients*payments*rotations)
	}
}

// TestPreviousKey checks that a previous key works until its end and not later.
func TestPreviousKey(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	token := &kept{next: f.Client().Transport}
	client := &http.Client{Transport: mle.New(mle.Config{Clock: f.clock, Next: token})}
	f.send(t, client, "POST", "/v1/transactions", sale, "Idempotency-Key", "one")
	again := func() got {
		return f.send(t, f.Client(), "POST", "/v1/transactions", token.body,
			"Content-Type", "application/jose", "X-SVC-MLE", "v1", "Idempotency-Key", "one")
	}
	f.send(t, f.Client(), "POST", "/v1/mle/keys/rotate", `{"expires_in":60}`)
	f.clock.Advance(time.Minute - time.Millisecond)
	if g := again(); g.status != 201 {
		t.Errorf("a millisecond before its time: got %d %s", g.status, g.body)
	}
	f.clock.Advance(time.Millisecond)
	if g := again(); g.status != 400 || !strings.Contains(g.body, "mle_kid_unknown") {
		t.Errorf("at its time: got %d %s", g.status, g.body)
	}
	if got := len(f.core.got()); got != 2 {
		t.Errorf("core got %d payments, want 2", got)
	}
}

// kept records the last body that was sent.
type kept struct {
	next http.RoundTripper
	body string
}

func (k *kept) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if len(text) > 0 {
			k.body = string(text)
		}
	}
	return k.next.RoundTrip(r)
}

// TestKeyPaths checks that the paths of the keys API accept no encryption. If the client demands an
// encrypted response, they do not respond in the clear.
func TestKeyPaths(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	g := f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "", "X-SVC-MLE-Response", "required")
	if g.status != 400 || !strings.Contains(g.body, "mle_not_supported") {
		t.Errorf("got %d %s, want 400 mle_not_supported", g.status, g.body)
	}
	if g := f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "", "Authorization", "Bearer x"); g.status != 401 {
		t.Errorf("no key: got %d %s", g.status, g.body)
	}
	g = f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "")
	if cache := g.header.Get("Cache-Control"); g.status != 200 || !strings.HasPrefix(cache, "private") ||
		g.header.Get("Vary") != "Authorization" {
		t.Errorf("got %d %v, want a response for one merchant", g.status, g.header)
	}
}

func TestOperations(t *testing.T) {
	t.Parallel()
	f := open(t, func(c *mlefilter.Config) { c.Concurrency = 1 })
	port := httptest.NewServer(f.Operations())
	t.Cleanup(port.Close)
	at := &filter{Server: port}
	programtest.WaitFor(t, "all checks pass", func() bool { // on a busy machine, a check can exceed its two seconds
		g := at.send(t, port.Client(), "GET", "/health", "")
		return g.status == 200 && g.body == `{"status":"ok","checks":{"keys":"ok","rows":"ok","v1":"ok"}}`
	})
	f.core.mu.Lock()
	f.core.ill = true
	f.core.mu.Unlock()
	if g := at.send(t, port.Client(), "GET", "/health", ""); g.status != 503 ||
		!strings.Contains(g.body, `"v1":"failing"`) {
		t.Errorf("got %d %s", g.status, g.body)
	}
	f.send(t, f.client(t, mle.ECDHESA256KW, nil), "POST", "/v1/transactions", sale)
	f.send(t, f.Client(), "POST", "/v1/transactions", "x", "Content-Type", "application/jose", "X-SVC-MLE", "v1")
	series := at.send(t, port.Client(), "GET", "/metrics", "").body
	for _, line := range []string{
		`causeway_mle_exchanges_total\{request="ECDH-ES\+A256KW",response="none"\} 1`,
		`causeway_mle_refusals_total\{code="mle_decrypt_failed",reason="encoding"\} 1`,
		`causeway_mle_request_seconds_count\{route="POST /v1/transactions",status="201"\} 1`,
		`causeway_mle_requests_in_flight 0`, `go_goroutines \d+`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(series) {
			t.Errorf("%s is not among\n%s", line, series)
		}
	}
}

// TestHealthWithoutKeyset checks that a filter is unhealthy after its keyset was lost.
func TestHealthWithoutKeyset(t *testing.T) {
	t.Parallel()
	var keys string
	f := open(t, func(c *mlefilter.Config) { keys = c.Keys })
	db, err := sql.Open("sqlite", keys)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // a test's connection
	if _, err := db.ExecContext(t.Context(), "DELETE FROM mle_keyset"); err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	f.Operations().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", http.NoBody))
	if body := rec.Body.String(); rec.Code != 503 || !strings.Contains(body, `"keys":"failing"`) {
		t.Errorf("got %d %s, want 503 by the check of the keys", rec.Code, body)
	}
}

// TestWarnsWithoutSecret checks that a start without the filter secret logs a warning, and that the
// health document lists it.
func TestWarnsWithoutSecret(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]secret.String{"without": {}, "with": secret.New(proof)} {
		f := open(t, func(c *mlefilter.Config) { c.Secret = given })
		rec := httptest.NewRecorder()
		f.Operations().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/health", http.NoBody))
		warned := name == "without"
		if got := strings.Contains(rec.Body.String(), `"warnings":["filter_secret_not_set"]`); got != warned {
			t.Errorf("%s: got %s, want a warning: %v", name, rec.Body, warned)
		}
		if got := strings.Contains(f.log.String(), "CAUSEWAY_FILTER_SECRET"); got != warned {
			t.Errorf("%s: got the log %s, want a warning: %v", name, f.log, warned)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*mlefilter.Config){
		"no v1":       func(c *mlefilter.Config) { c.V1 = "" },
		"both":        func(c *mlefilter.Config) { c.Core = &core{} },
		"a path":      func(c *mlefilter.Config) { c.V1 += "/v1" },
		"no KEK":      func(c *mlefilter.Config) { c.KEK = secret.String{} },
		"a short KEK": func(c *mlefilter.Config) { c.KEK = secret.New("YWJj") },
		"a wrong level": func(c *mlefilter.Config) {
			c.Policy.Merchants, c.FilterToken = map[string]policy.Merchant{"mer_01jd8m3k2q4r5": {MLE: "sometimes"}}, secret.New(
				"operator",
			)
		},
		"strict merchants without a filter token": func(c *mlefilter.Config) {
			c.Policy.Merchants = map[string]policy.Merchant{"mer_01jd8m3k2q4r5": {MLE: policy.Required}}
		},
		"room for less than no request": func(c *mlefilter.Config) { c.Concurrency = -1 },
		"a limit":                       func(c *mlefilter.Config) { c.Limits.MaxBody = -1 },
	} {
		cfg := mlefilter.Config{
			V1: "http://127.0.0.1:1", Keys: t.TempDir() + "/mle.db", KEK: secret.New(strings.Repeat("A", 43) + "="),
		}
		change(&cfg)
		if f, err := mlefilter.New(t.Context(), cfg); err == nil {
			t.Errorf("%s: got no error, want one: %v", name, f.Close())
		}
	}
}

// TestPolicyLineIsCounted checks that an error names the route by its position in the operator's
// file, without the filter's own route.
func TestPolicyLineIsCounted(t *testing.T) {
	t.Parallel()
	_, err := mlefilter.New(t.Context(), mlefilter.Config{
		V1: "http://127.0.0.1:1", Keys: t.TempDir() + "/mle.db", KEK: secret.New(strings.Repeat("A", 43) + "="),
		Policy: policy.Config{Routes: []policy.Route{{Path: "/v1/a"}, {Path: "/v1/a?b=c"}}},
	})
	if err == nil || !strings.Contains(err.Error(), "route 2:") {
		t.Errorf("got %v, want to hear of route 2", err)
	}
}

// TestRotationIsAnnounced checks that core's operators' API receives an event for each rotation,
// with the filter token.
func TestRotationIsAnnounced(t *testing.T) {
	t.Parallel()
	events := make(chan string, 8)
	operations := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusCreated)
		events <- r.Header.Get("Authorization") + " " + r.URL.Path + " " + string(body)
	})
	f := open(t, func(c *mlefilter.Config) {
		c.Operations, c.FilterToken, c.Lazily = operations, secret.New("operator"), true
	})
	f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "")
	f.send(t, f.Client(), "POST", "/v1/mle/keys/rotate", "{}")
	got := <-events // arrives within seconds
	for _, want := range []string{
		"Bearer operator ", "/admin/v1/merchants/mer_01jd8m3k2q4r5/events", `"mle.key.rotated"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}
