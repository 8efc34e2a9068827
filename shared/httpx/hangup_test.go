package httpx_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

func refuse500(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }

// goneCases are handlers, with the log of a request whose client stays, and of one whose client
// disconnects first.
var goneCases = map[string]struct {
	handler        http.HandlerFunc
	stays          bool
	status         float64
	level, outcome string
}{
	"gone before a 500": {refuse500, false, 499, "INFO", "client_gone"},
	"gone before a 503 body": {func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(503)
		_, _ = w.Write([]byte("{}"))
	}, false, 499, "INFO", "client_gone"},
	"gone before a 400": {
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, false, 400, "INFO",
		"",
	},
	"gone before a 201": {
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, false, 201, "INFO",
		"",
	},
	"gone before an abort": {
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false, 499,
		"INFO", "client_gone",
	},
	"gone in a half-sent body": {func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200)
		panic(http.ErrAbortHandler)
	}, false, 200, "INFO", "client_gone"},
	"gone before a panic": {
		func(http.ResponseWriter, *http.Request) { panic("a fault of ours") }, false, 500,
		"ERROR", "panic",
	},
	"there for a 500": {refuse500, true, 500, "ERROR", ""},
	"there for an abort": {
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, 0,
		"ERROR", "aborted",
	},
}

// TestClientGone: if the client disconnects before the response, the request is logged with status
// 499 and no error, for any result of the handler. A panic stays an error. So does a status of 500
// that was sent to a connected client.
func TestClientGone(t *testing.T) {
	t.Parallel()
	for name, c := range goneCases {
		var l logbook
		var seen httpx.Sample
		ctx, cancel := context.WithCancel(t.Context())
		handler := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !c.stays {
				cancel()
			}
			c.handler(w, r)
		}))
		handler = httpx.Recover(refuse500, l.logger(), handler)
		handler = httpx.LogRequests(l.logger(), newClock(), handler, func(s httpx.Sample) { seen = s })
		func() {
			defer func() { _ = recover() }() // of the aborted ones
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		}()
		cancel()
		e := one(t, l.events(t, "request"))
		if e["status"] != c.status || e["level"] != c.level || e["outcome"] != c.outcome {
			t.Errorf("%s: got %v %v %v, want %v %s %s", name, e["status"], e["level"], e["outcome"], c.status, c.level,
				c.outcome)
		}
		if seen.Status != int(c.status) || seen.Outcome != c.outcome {
			t.Errorf("%s: the sample has %d %s, want %v %s", name, seen.Status, seen.Outcome, c.status, c.outcome)
		}
	}
}

// TestResetStreams: many HTTP/2 streams that the client of one connection resets cause no error
// line.
func TestResetStreams(t *testing.T) {
	t.Parallel()
	const streams = 200
	var l logbook
	var served, arrived sync.WaitGroup
	served.Add(streams)
	arrived.Add(streams)
	handler := httpx.LogRequests(l.logger(), newClock(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		<-r.Context().Done()
		w.WriteHeader(http.StatusInternalServerError) // as after a call that failed
	}))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer served.Done()
		handler.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	ctx, reset := context.WithCancel(t.Context())
	defer reset()
	for range streams {
		go func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			if resp, err := s.Client().Do(r); err == nil {
				_ = resp.Body.Close()
				t.Error("got a response, want none")
			}
		}()
	}
	arrived.Wait()
	reset()
	served.Wait()
	if got := len(l.events(t, "request")); got != streams {
		t.Errorf("requests: got %d, want %d", got, streams)
	}
	for _, e := range l.events(t, "request") {
		if e["level"] != "INFO" || e["status"] != 499.0 {
			t.Fatalf("got %v", e)
		}
	}
	if strings.Contains(l.String(), "ERROR") {
		t.Error("there are error lines")
	}
}
