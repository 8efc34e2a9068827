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

// wire is an HTTPS listener before the standalone, with the same certificate, that looks at the bodies which pass.
type wire struct {
	*httptest.Server

	mu        sync.Mutex
	encrypted map[string]int // guarded by mu; by what passed, how many were nothing but encrypted
	open      map[string]int // guarded by mu; how many were anything else
}

// watch starts a wire. The test's end stops it.
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

// see counts a body, and puts it back.
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

// check wants all bodies to have been encrypted, but the answers to who could not be told.
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
