package httphop_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// TestStreams makes both sides wait for each other's parts. A hop that buffers would block forever.
func TestStreams(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		next := make(chan struct{})
		d.core.response = func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{"one\n", "two\n"} {
				_, _ = io.WriteString(w, part)
				_ = http.NewResponseController(w).Flush()
				<-next
			}
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/v1/events", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := d.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(response.Body)
		for _, want := range []string{"one\n", "two\n"} {
			if got, err := in.ReadString('\n'); err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			next <- struct{}{}
		}
		if rest, err := io.ReadAll(in); err != nil || len(rest) != 0 || response.Body.Close() != nil {
			t.Errorf("got %q, %v at the end", rest, err)
		}
	})
}

// TestBodyIsSentWhole checks that a request goes to core when its body is complete, with its
// length.
func TestBodyIsSentWhole(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		d.core.before = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inProcess := strings.Contains(t.Name(), "in_process") // a core in the same process reads the body itself
			if body, err := io.ReadAll(r.Body); r.ContentLength != 6 && !inProcess || string(body) != "onetwo" || err != nil {
				t.Errorf("got %d bytes announced, %q, %v", r.ContentLength, body, err)
			}
			w.WriteHeader(http.StatusNoContent)
		})
		out, in := io.Pipe()
		go func() {
			_, _ = io.WriteString(in, "one")
			_, _ = io.WriteString(in, "two")
			_ = in.Close()
		}()
		if g := d.send(t, "POST", "/v1/transactions", out, nil); g.status != http.StatusNoContent {
			t.Errorf("got %d %s", g.status, g.body)
		}
	})
}

// TestInterim checks that core's interim responses reach the client, in the clear and if the final
// response is encrypted.
func TestInterim(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		d.core.response = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Link", "</docs>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		}
		if g := d.send(t, "GET", "/v1/x", nil, nil); g.status != 200 || g.body != "{}" {
			t.Errorf("in the clear: got %d %s", g.status, g.body)
		}
		if g := d.send(t, "GET", "/v1/x", nil, map[string]string{"X-SVC-MLE-Response": "required"}); g.status != 200 ||
			d.decrypt(t, g) != "{}" {
			t.Errorf("encrypted: got %d %s", g.status, g.body)
		}
	})
}

// TestGone sends requests to a core that is down, and to one that dies without a response.
func TestGone(t *testing.T) {
	t.Parallel()
	nowhere := func(c *httphop.Config, _ *engine.Config) {
		c.Core, c.Transport, c.Upstream = nil, nil, &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	}
	for _, fields := range []map[string]string{nil, {"X-SVC-MLE-Response": "required"}, encryptedFields()} {
		d := open(t, form{}, nowhere)
		var body io.Reader = strings.NewReader(sale)
		if fields["Content-Type"] != "" {
			body = d.encrypt(t, engine.RSAOAEP256)
		}
		g := d.send(t, "POST", "/v1/transactions", body, fields)
		wantCode(t, g, 503, "service_unavailable")
		if g.header.Get("Retry-After") == "" || g.header.Get(httpx.UnsentHeader) == "" {
			t.Errorf("got %v, want Retry-After and %s", g.header, httpx.UnsentHeader)
		}
		leaving := open(t, form{remote: true}, nil)
		leaving.core.response = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		body = strings.NewReader(sale)
		if fields["Content-Type"] != "" {
			body = leaving.encrypt(t, engine.RSAOAEP256)
		}
		g = leaving.send(t, "POST", "/v1/transactions", body, fields)
		if wantCode(t, g, 502, "response_lost"); g.header.Get(httpx.UnsentHeader) != "" {
			t.Errorf("got %v, want no %s", g.header, httpx.UnsentHeader)
		}
		if n := len(leaving.core.got()); n != 1 {
			t.Errorf("core got %d requests, want one: what moved money is not sent again", n)
		}
	}
}

// TestClaimsUnsent checks that a response of core cannot claim that the filter sent nothing.
func TestClaimsUnsent(t *testing.T) {
	t.Parallel()
	d := open(t, form{remote: true}, nil)
	d.core.response = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(httpx.UnsentHeader, "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	g := d.send(t, "POST", "/v1/transactions", strings.NewReader(sale), nil)
	if g.status != http.StatusServiceUnavailable || g.header.Get(httpx.UnsentHeader) != "" {
		t.Errorf("got %d %v, want no %s", g.status, g.header, httpx.UnsentHeader)
	}
}

// TestClientGone checks that core's request is cancelled when the client disconnects, and that no
// fault is counted.
func TestClientGone(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		arrived, left := make(chan struct{}), make(chan struct{})
		d.core.response = func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			<-r.Context().Done()
			close(left)
		}
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.URL+"/v1/x", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", bearer)
		r.Header.Set("X-SVC-MLE-Response", "required")
		go func() { <-arrived; leave() }()
		response, err := d.Client().Do(r)
		if err == nil {
			_ = response.Body.Close()
			t.Error("got a response, want none")
		}
		<-left
	})
}

// TestBodyCut checks that a truncated body does not reach core.
func TestBodyCut(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		out, in := io.Pipe()
		go func() {
			_, _ = io.WriteString(in, "eyJ")
			_ = in.CloseWithError(io.ErrUnexpectedEOF)
		}()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+"/v1/transactions", out)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", bearer)
		for name, value := range encryptedFields() {
			r.Header.Set(name, value)
		}
		if response, err := d.Client().Do(r); err == nil {
			_ = response.Body.Close()
			t.Errorf("got %d, want that the body broke", response.StatusCode)
		}
		d.untouched(t)
	})
}

// TestConnect checks that no client can open a tunnel.
func TestConnect(t *testing.T) {
	t.Parallel()
	d := open(t, form{remote: true}, nil)
	wantCode(t, d.send(t, http.MethodConnect, "/v1/transactions", nil, nil), 405, "method_not_allowed")
	d.untouched(t)
}
