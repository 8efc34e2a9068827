package httphop_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// caseField names the case of a request; callerField names its merchant.
const (
	caseField   = "X-Case"
	callerField = "X-Caller"
)

// stage is the core of all cases at the same time: each request names its case.
type stage struct {
	mu      sync.Mutex
	replies map[string]enginetest.Response // by case; guarded by mu
	reached map[string]int                 // guarded by mu
	got     map[string]http.Header         // guarded by mu
	bodies  map[string]string              // guarded by mu
}

func newStage() *stage {
	return &stage{
		replies: map[string]enginetest.Response{}, reached: map[string]int{}, got: map[string]http.Header{},
		bodies: map[string]string{},
	}
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	name := r.Header.Get(caseField)
	s.mu.Lock()
	reply := s.replies[name]
	s.reached[name]++
	s.got[name], s.bodies[name] = r.Header.Clone(), string(body)
	s.got[name].Set("Content-Length", strconv.FormatInt(r.ContentLength, 10)) // net/http removes it from the fields
	s.mu.Unlock()
	if err != nil {
		return
	}
	for _, f := range reply.Fields {
		w.Header().Add(f.Name, f.Value)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header()["Content-Type"] = nil // otherwise net/http guesses one
	}
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
}

// TestCases runs the engine's cases through each form of the hop, and checks the requests at core.
func TestCases(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := enginetest.NewWorld(t)
			s := newStage()
			cfg := httphop.Config{Engine: w.Engine(t), Identify: byField, Around: around(quiet)}
			if f.remote {
				cfg.Upstream, cfg.Transport = remote(t, s, f.two)
			} else {
				cfg.Core = s
			}
			hop, err := httphop.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			server := serve(t, httpx.SecurityHeaders(hop), f.two)
			enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, reply enginetest.Response) enginetest.Outcome {
				t.Helper()
				return s.play(t, &testHop{Server: server}, r, reply)
			})
		})
	}
}

// TestInternalResponseFields checks that the internal fields in responses of a remote core do not
// reach the client, even without encryption.
func TestInternalResponseFields(t *testing.T) {
	t.Parallel()
	for name, f := range forms {
		if !f.remote { // a request in the clear goes directly to core, which sends no such field
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			cfg := httphop.Config{Engine: enginetest.NewWorld(t).Engine(t), Identify: byField}
			cfg.Upstream, cfg.Transport = remote(t, s, f.two)
			hop, err := httphop.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			out := s.play(t, &testHop{Server: serve(t, hop, f.two)}, enginetest.Request{Method: "GET", Path: enginetest.Path},
				enginetest.InternalResponse)
			enginetest.CheckInternal(t, out)
		})
	}
}

func byField(_ context.Context, h http.Header) (string, *engine.Problem) {
	return h.Get(callerField), nil
}

// play sends one request and returns its outcome.
func (s *stage) play(
	t *testing.T, d *testHop, r enginetest.Request, reply enginetest.Response,
) (out enginetest.Outcome) {
	t.Helper()
	s.mu.Lock()
	s.replies[t.Name()] = reply
	s.mu.Unlock()
	var body io.Reader = strings.NewReader(r.Body)
	if r.NoLength {
		body = io.MultiReader(body)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, d.URL+r.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fields {
		req.Header.Add(f.Name, f.Value)
	}
	req.Header.Set(caseField, t.Name())
	if req.Header.Set(callerField, r.Caller); r.Caller == "" {
		req.Header.Set(callerField, enginetest.Merchant)
	}
	response, err := d.Client().Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return enginetest.Outcome{
		Reached: s.reached[t.Name()], Core: s.got[t.Name()], Body: s.bodies[t.Name()], Status: response.StatusCode,
		Fields: response.Header, Response: string(text),
	}
}
