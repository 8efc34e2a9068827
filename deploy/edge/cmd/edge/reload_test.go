package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestRefusedReload checks that the operators' port reports a refused configuration with its key,
// until the file is corrected.
func TestRefusedReload(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	admin := "admin: " + programtest.Host(t) + ":9084\n"
	url := "http://" + strings.TrimSpace(strings.TrimPrefix(admin, "admin: "))
	b.configure(t, admin)
	b.run(t)
	reports := func(reason, metric string) func() bool {
		return func() bool {
			return strings.Contains(ready(t, url), `"configuration_refused":"`+reason) &&
				strings.Contains(fetched(t, url+"/metrics"), "causeway_edge_config_refused "+metric+"\n")
		}
	}
	programtest.WaitFor(t, "no configuration is refused", reports(`"`, "0"))
	b.configure(t, admin+"drain: 3s\n")
	programtest.WaitFor(t, "the refusal is reported", reports("drain changed: restart this program", "1"))
	b.configure(t, admin)
	programtest.WaitFor(t, "the correction is reported", reports(`"`, "0"))
}

// ready returns the body of /ready, with any status.
func ready(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/ready", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestChangedDuringTheStart checks that a change of the file is not lost between its reading and
// the first check for changes.
func TestChangedDuringTheStart(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "admin: "+programtest.Host(t)+":9084")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	change := func(net.Addr) { b.configure(t, "unknown: 1") }
	m := &Main{Stdout: io.Discard, Stderr: b.log(t), Look: look, AdminReady: change}
	go func() { ended <- m.Command(ctx, []string{"--config", b.path("edge.yaml")}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	programtest.WaitFor(t, "the change is read", func() bool { return b.countLogged(t, "unknown key") > 0 })
}

// operatorPort is a core that accepts one token.
type operatorPort struct {
	mu     sync.Mutex
	token  string   // guarded by mu
	events []string // the accepted ones; guarded by mu
}

func (o *operatorPort) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+o.token {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	o.events = append(o.events, string(body))
	w.WriteHeader(http.StatusCreated)
}

func (o *operatorPort) accepted() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.events)
}

// TestPolicyReachesMerchants checks that a policy whose publication failed is published later,
// without a change of the file. Its event is sent with the present token.
func TestPolicyReachesMerchants(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	port := &operatorPort{token: "new"}
	server := httptest.NewServer(port)
	t.Cleanup(server.Close)
	certtest.Replace(t, b.path("token"), []byte("old\n"))
	more := "operator: " + server.URL + "\nfilter_token: {file: " + b.path("token") + "}\n"
	b.configure(t, more)
	b.run(t)
	e := b.envoy(t)
	e.Listeners(t)
	b.logged(t, e, "certificate is live")
	trust := b.path("data/trust")
	if err := os.Rename(trust, trust+"-aside"); err != nil {
		t.Fatal(err)
	}
	b.configure(t, more+"tls: {minimum_version: '1.3'}\n")
	b.logged(t, e, "the TLS policy was not published")
	if got := b.countLogged(t, "the configuration was rejected"); got > 0 {
		t.Errorf("the configuration is in effect, and was reported as refused %d times", got)
	}
	if err := os.Rename(trust+"-aside", trust); err != nil {
		t.Fatal(err)
	}
	b.logged(t, e, "core rejected filter_token")
	certtest.Replace(t, b.path("token"), []byte("new\n"))
	programtest.WaitFor(t, "core has the event", func() bool { return port.accepted() > 0 })
}
