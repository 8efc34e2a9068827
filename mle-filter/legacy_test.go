package mlefilter_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/secret"
)

// seen is a request at compat-proxy.
type seen struct {
	host, target, body string
	header             http.Header
}

// compat stands in for compat-proxy.
type compat struct{ seen chan seen }

func (c compat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c.seen <- seen{r.Host, r.RequestURI, string(body), r.Header}
	w.Header().Set("Content-Type", "application/hal+json;charset=utf-8")
	_, _ = io.WriteString(w, `{"id":"1"}`)
}

// encryptTo encrypts a body to the current key of the filter's merchant, with a cty.
func (f *filter) encryptTo(t *testing.T, body, cty string) string {
	t.Helper()
	var current struct {
		JWK jose.JSONWebKey `json:"jwk"`
	}
	if err := json.Unmarshal([]byte(f.send(t, f.Client(), "GET", "/v1/mle/keys/current", "").body), &current); err != nil {
		t.Fatal(err)
	}
	to := jose.Recipient{Algorithm: jose.KeyAlgorithm(current.JWK.Algorithm), Key: current.JWK}
	options := (&jose.EncrypterOptions{}).WithContentType(jose.ContentType(cty))
	encrypter, err := jose.NewEncrypter(jose.A256GCM, to, options)
	if err != nil {
		t.Fatal(err)
	}
	object, err := encrypter.Encrypt([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// TestLegacy checks that the filter forwards the paths of compat-proxy there, in the clear and
// decrypted, with the client's host. It keeps its proof for core.
func TestLegacy(t *testing.T) {
	t.Parallel()
	behind := compat{make(chan seen, 1)}
	server := httptest.NewServer(behind)
	t.Cleanup(server.Close)
	const hop = "hop-hop-hop"
	f := open(t, func(c *mlefilter.Config) { c.Compat, c.Hop = server.URL, secret.New(hop) })
	for _, path := range []string{
		"/compat/rpc", "/compat/provider-a/xml", "/xml/v1/request.api", "/pts/v2/payments?a=%2F",
	} {
		got := f.send(t, f.Client(), "POST", path, "<a/>", "Content-Type", "text/xml", "X-Svc-Int-Mle", "v1")
		one := <-behind.seen
		if got.body != `{"id":"1"}` || one.target != path || one.body != "<a/>" || "http://"+one.host != f.URL ||
			one.header.Get("Content-Type") != "text/xml" || one.header.Get("X-Svc-Int-Proof") != "" ||
			one.header.Get("X-Svc-Int-Hop") != hop || one.header.Get("X-Svc-Int-Mle") != "" {
			t.Errorf("%s: got %+v and %+v", path, got, one)
		}
	}
	const path, sent = "/compat/provider-b/pts/v2/payments", `{"a":1}`
	token := f.encryptTo(t, sent, "json")
	got := f.send(t, f.Client(), "POST", path, token, "Content-Type", "application/jose", "X-SVC-MLE", "v1",
		"X-SVC-MLE-Response", "required")
	one := <-behind.seen
	if one.target != path || one.body != sent || one.header.Get("Content-Type") != "application/json" ||
		one.header.Get("X-Svc-Int-Proof") != "" || !strings.HasPrefix(one.header.Get("X-Svc-Int-Mle"), "v1;kid=") {
		t.Errorf("got %+v", one)
	}
	if got.status != 200 || got.header.Get("Content-Type") != "application/jose" || strings.Contains(got.body, `"id"`) {
		t.Errorf("got %+v, want an encrypted response", got)
	}
	if len(f.core.got()) != 0 {
		t.Errorf("core got %q", f.core.got())
	}
}

// TestOneUpstream checks that each spelling of a path has one upstream: compat-proxy never gets the
// filter secret, and core never gets a legacy request.
func TestOneUpstream(t *testing.T) {
	t.Parallel()
	behind := compat{make(chan seen, 1)}
	server := httptest.NewServer(behind)
	t.Cleanup(server.Close)
	f := open(t, func(c *mlefilter.Config) { c.Compat, c.Secret = server.URL, secret.New("planted-filter-secret") })
	for _, path := range []string{
		"/compat", "/compat/rpc", "/%63ompat/rpc", "/%2563ompat/rpc", "/compat%2Frpc", "/compat%252frpc",
		"/xml/v1/request.api", "/xml/v1/request%2eapi", "/xml/v1/request%252eapi", "/xml/v1/request.api/",
		"/pts/v2/payments", "/%70ts/v2/payments", "/%2570ts/v2/payments", "/pts%2Fv2", "/pts%252fv2", "/pts",
	} {
		before := len(f.core.got())
		f.send(t, f.Client(), "POST", path, "{}")
		select {
		case one := <-behind.seen:
			if proof := one.header.Get("X-Svc-Int-Proof"); proof != "" || len(f.core.got()) != before {
				t.Errorf("%s: compat-proxy got the proof %q, and core %q", path, proof, f.core.got()[before:])
			}
		default:
			if strings.Count(path, "%") == 0 && path != "/pts" {
				t.Errorf("%s: compat-proxy got nothing", path)
			}
		}
	}
}

// TestNoCompat checks that without compat-proxy its paths do not exist. An invalid URL stops the
// start.
func TestNoCompat(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	for _, path := range []string{"/compat/rpc", "/pts/v2/payments"} {
		got := f.send(t, f.Client(), "POST", path, "{}")
		if got.status != 404 || !strings.Contains(got.body, `"code":"route_not_found"`) || len(f.core.got()) != 0 {
			t.Errorf("%s: got %d %s, and core %q", path, got.status, got.body, f.core.got())
		}
	}
	_, err := mlefilter.New(t.Context(), mlefilter.Config{
		V1: "http://127.0.0.1:1", Compat: "127.0.0.1:8081", Keys: t.TempDir() + "/mle.db",
		KEK: secret.New(base64.StdEncoding.EncodeToString(make([]byte, 32))),
	})
	if err == nil || !strings.Contains(err.Error(), "compat: want an absolute http or https URL") {
		t.Errorf("got %v", err)
	}
}
