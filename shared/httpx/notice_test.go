package httpx_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/httpx"
)

// TestNotice: until its time is over a server serves, reports in its health that it is leaving, and
// closes each connection after a response.
func TestNotice(t *testing.T) {
	t.Parallel()
	n := &httpx.Notice{For: time.Hour, Health: []string{"/health", "/v1/health"}}
	s := httpx.NewServer(httpx.Options{Handler: hello, Notice: n})
	url := "http://" + mustStart(t, s)
	client := &http.Client{Transport: &http.Transport{}}
	send := func(path string, status int, closes bool) string {
		t.Helper()
		response := mustGet(t, client, url+path)
		defer response.Body.Close() //nolint:errcheck // of a test
		if response.StatusCode != status || response.Close != closes {
			t.Errorf("%s: got %d, closing %t, want %d, %t", path, response.StatusCode, response.Close, status, closes)
		}
		return response.Header.Get("Request-Id")
	}
	send("/v1/health", http.StatusOK, false)
	given, over := context.WithCancel(t.Context())
	over() // its time is over, and notice is given
	n.Give(given)
	send("/", http.StatusOK, true)
	for _, path := range n.Health {
		if id := send(path, http.StatusServiceUnavailable, true); !strings.HasPrefix(id, "req_") {
			t.Errorf("%s: got request id %q", path, id)
		}
	}
	send("/v1/health/", http.StatusOK, true)
	n.Give(t.Context()) // notice was given already, so it does not wait
}

// TestNoNotice: without a notice, responses do not change, and the stop does not wait.
func TestNoNotice(t *testing.T) {
	t.Parallel()
	for _, n := range []*httpx.Notice{nil, {Health: []string{"/health"}}} {
		n.Give(t.Context())
		response := mustGet(t, &http.Client{Transport: &http.Transport{}},
			"http://"+mustStart(t, httpx.NewServer(httpx.Options{Handler: hello, Notice: n}))+"/health")
		if _ = response.Body.Close(); response.StatusCode != http.StatusOK || response.Close {
			t.Errorf("got %d, closing %t", response.StatusCode, response.Close)
		}
	}
}
