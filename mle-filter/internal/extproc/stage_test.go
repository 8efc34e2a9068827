package extproc_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// caseField names the test of a request.
const caseField = "X-Case"

// stage is the core of all concurrent tests. Each request names its test.
type stage struct {
	mu      sync.Mutex
	replies map[string]enginetest.Response // by test; guarded by mu
	got     map[string]*enginetest.Outcome
	pauses  map[string]pauses
}

// pauses are called while core responds: before the response, and after half of its body. Nil does
// nothing.
type pauses struct{ before, within func() }

func newStage() *stage {
	return &stage{
		replies: map[string]enginetest.Response{}, got: map[string]*enginetest.Outcome{}, pauses: map[string]pauses{},
	}
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	name := r.Header.Get(caseField)
	s.mu.Lock()
	reply, out := s.replies[name], s.got[name]
	if out == nil {
		out = &enginetest.Outcome{}
		s.got[name] = out
	}
	out.Reached++
	out.Core, out.Body = r.Header.Clone(), string(body)
	if r.ContentLength > 0 {
		out.Core.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10)) // net/http removes it from the fields
	}
	pause := s.pauses[name]
	s.mu.Unlock()
	if err != nil {
		return
	}
	if pause.before != nil {
		pause.before()
	}
	for _, f := range reply.Fields {
		w.Header().Add(f.Name, f.Value)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header()["Content-Type"] = nil // otherwise net/http guesses one
	}
	if reply.Status == 0 {
		reply.Status = http.StatusOK
	}
	w.WriteHeader(reply.Status)
	if half := len(reply.Body) / 2; pause.within != nil {
		_, _ = io.WriteString(w, reply.Body[:half])
		_ = http.NewResponseController(w).Flush() // a client that misses this half misses the second one too
		pause.within()
		reply.Body = reply.Body[half:]
	}
	_, _ = io.WriteString(w, reply.Body)
}

// h1 and h2 are the protocols of clients.
var h1, h2 = transport(false), transport(true)

func transport(two bool) *http.Transport {
	p := &http.Protocols{}
	p.SetHTTP1(!two)
	p.SetUnencryptedHTTP2(two)
	return &http.Transport{Protocols: p, DisableCompression: true}
}

// send sends a request to one of Envoy's listeners and returns the outcome.
func (e *realEnvoy) send(
	t *testing.T, by *http.Transport, to string, r enginetest.Request, reply enginetest.Response,
) (out enginetest.Outcome) {
	t.Helper()
	var body io.Reader = strings.NewReader(r.Body)
	if r.NoLength {
		body = io.MultiReader(body)
	}
	return e.sendBody(t, by, to, r, body, reply)
}

// sendBody sends a request with the given body.
func (e *realEnvoy) sendBody(
	t *testing.T, by *http.Transport, to string, r enginetest.Request, body io.Reader, reply enginetest.Response,
) (out enginetest.Outcome) {
	t.Helper()
	s := e.core
	s.mu.Lock()
	s.replies[t.Name()] = reply
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(t.Context(), r.Method, "http://"+e.at[to]+r.Path, body)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Fields {
		req.Header.Add(f.Name, f.Value)
	}
	req.Header.Set(caseField, t.Name())
	response, err := by.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.got[t.Name()]; got != nil {
		out = *got
	}
	out.Status, out.Fields, out.Response = response.StatusCode, response.Header, string(text)
	return out
}
