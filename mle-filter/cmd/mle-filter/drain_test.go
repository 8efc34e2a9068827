package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestDrain stops the program during a request. The request gets its response, and the stop is
// clean.
func TestDrain(t *testing.T) {
	t.Parallel()
	arrived, hold := make(chan struct{}), make(chan struct{})
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/transactions" { // mle-filter's own request for requirements
			http.NotFound(w, r)
			return
		}
		close(arrived)
		<-hold
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(core.Close)
	m := &Main{Stderr: io.Discard, Config: Config{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", V1: core.URL, RSABits: 2048, SpareKeys: 1,
		Keys: config.Literal(secret.New(filepath.Join(t.TempDir(), "mle.db"))), KEK: kek,
	}}
	public, _, stop := run(t, m)
	finished := make(chan int)
	go func() { finished <- status(t, public+"/v1/transactions") }()
	<-arrived
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for { // until the listener is closed
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, public+"/v1/mle/x", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			break
		}
		_ = response.Body.Close() // it was accepted before the stop
	}
	select {
	case <-stopped:
		t.Error("it stopped with a request under way")
	default:
	}
	close(hold)
	if got := <-finished; got != http.StatusOK {
		t.Errorf("got %d, want the response", got)
	}
	<-stopped
}
