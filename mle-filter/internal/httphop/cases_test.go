package httphop_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
)

// TestCases runs the cases that all shells share, the abuse list among them, from a real client to a real core.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, inProcess := range []bool{false, true} {
		t.Run("in process "+strconv.FormatBool(inProcess), func(t *testing.T) {
			t.Parallel()
			w := enginetest.NewWorld(t)
			e := w.Engine(t)
			enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, core enginetest.Reply) enginetest.Outcome {
				t.Helper()
				back := &recorder{reply: core}
				cfg := httphop.Config{Engine: e, Identify: byMerchant}
				if inProcess {
					cfg.Core = back
				} else {
					cfg.Upstream = mustServe(t, back)
				}
				hop, err := httphop.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				out := send(t, mustServe(t, hop), r)
				out.Reached, out.Core, out.Body = back.seen()
				return out
			})
		})
	}
}

// byMerchant takes the merchant's id for its key.
func byMerchant(_ context.Context, header http.Header) (string, *engine.Problem) {
	return strings.TrimPrefix(header.Get("Authorization"), "Bearer "), nil
}

func mustServe(t *testing.T, h http.Handler) *url.URL {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// send returns what the client gets.
func send(t *testing.T, to *url.URL, r enginetest.Request) (out enginetest.Outcome) {
	t.Helper()
	var body io.Reader
	if r.Body != "" {
		body = strings.NewReader(r.Body)
	}
	if r.NoLength {
		body = io.MultiReader(body) // of which net/http knows no length
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, to.String()+r.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fields {
		req.Header.Add(f.Name, f.Value)
	}
	merchant := r.Caller
	if merchant == "" {
		merchant = enginetest.Merchant
	}
	req.Header.Set("Authorization", "Bearer "+merchant)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out.Status, out.Fields, out.Answer = resp.StatusCode, resp.Header, string(answer)
	return out
}

// recorder is a core that gives one reply and keeps what it got.
type recorder struct {
	reply enginetest.Reply
	mu    sync.Mutex
	got   enginetest.Outcome // guarded by mu
}

func (c *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	c.got.Reached++
	c.got.Core, c.got.Body = r.Header.Clone(), string(body)
	c.got.Core.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	c.mu.Unlock()
	for _, f := range c.reply.Fields {
		w.Header().Add(f.Name, f.Value)
	}
	w.WriteHeader(c.reply.Status)
	_, _ = io.WriteString(w, c.reply.Body)
}

func (c *recorder) seen() (reached int, header http.Header, body string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.Reached, c.got.Core, c.got.Body
}
