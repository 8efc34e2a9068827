package standalone_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wire is an HTTPS listener in front of the standalone, with the same certificate, that reads the
// bodies.
type wire struct {
	*httptest.Server

	mu        sync.Mutex
	encrypted map[string]int // number of encrypted bodies, by kind; guarded by mu
	open      map[string]int // number of other bodies; guarded by mu
}

// watch starts a wire. The end of the test stops it.
func watch(t *testing.T, p *process, data string) *wire {
	t.Helper()
	file := filepath.Join(data, "tls", "server-with-key.pem")
	pair, err := tls.LoadX509KeyPair(file, file)
	if err != nil {
		t.Fatal(err)
	}
	standalone, err := url.Parse(p.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{encrypted: map[string]int{}, open: map[string]int{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = standalone.Scheme, standalone.Host // the client's Host stays: it is signed
			if r.In.Method == http.MethodPost {
				w.see(&r.Out.Body, "requests", "encryptedRequest")
			}
		},
		ModifyResponse: func(r *http.Response) error {
			w.see(&r.Body, http.StatusText(r.StatusCode), "encryptedResponse")
			return nil
		},
	}
	w.Server = httptest.NewUnstartedServer(proxy)
	w.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	w.StartTLS()
	t.Cleanup(w.Close)
	return w
}

// see counts a body, and restores it.
func (w *wire) see(body *io.ReadCloser, what, member string) {
	text, err := io.ReadAll(*body)
	_ = (*body).Close() // read to its end
	*body = io.NopCloser(bytes.NewReader(text))
	var members map[string]jsontext.Value
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, is := members[member]; err == nil && is && len(members) == 1 {
		w.encrypted[what]++
	} else {
		w.open[what]++
	}
}

// check checks that all bodies were encrypted, except for responses to clients that could not be
// authenticated.
func (w *wire) check(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, http.StatusText(http.StatusUnauthorized))
	for _, what := range []string{"requests", "Created", "OK", "Bad Request"} {
		if w.encrypted[what] == 0 {
			t.Errorf("no %s was encrypted", what)
		}
	}
	if len(w.open) > 0 {
		t.Errorf("not encrypted: %v", w.open)
	}
}
