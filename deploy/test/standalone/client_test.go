package standalone_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// merchant is a v1 client of one process. It is safe for concurrent use.
type merchant struct {
	base, key string
	http      *http.Client
}

// response is a response of v1.
type response struct {
	status   int
	body     string
	replayed bool
	retry    string // the Retry-After header
}

// merchantOf returns a client with the secret test key.
func merchantOf(tb testing.TB, p *process) *merchant {
	tb.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	tb.Cleanup(transport.CloseIdleConnections)
	return &merchant{base: p.HTTP, key: p.Keys.SKTest, http: &http.Client{Transport: transport, Timeout: patience}}
}

// do sends a request, with an idempotency key unless it is empty. The error reports an incomplete
// response.
func (m *merchant) do(ctx context.Context, method, path, key, body string) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, m.base+path, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Authorization", "Bearer "+m.key)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	got, err := m.http.Do(r)
	if err != nil {
		return response{}, err
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	return response{
		status: got.StatusCode, body: string(data), replayed: got.Header.Get("Idempotent-Replayed") == "true",
		retry: got.Header.Get("Retry-After"),
	}, err
}

// must calls do on a running process.
func (m *merchant) must(tb testing.TB, method, path, key, body string) response {
	tb.Helper()
	got, err := m.do(tb.Context(), method, path, key, body)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// transactions returns all transactions that the key can read, newest first.
func (m *merchant) transactions(tb testing.TB) []v1.Transaction {
	tb.Helper()
	return (&sdk.System{V1: m.base, HTTP: m.http, Key: m.key}).Transactions(tb)
}

// mustDecode decodes a body of v1.
func mustDecode[T any](tb testing.TB, a response) T {
	tb.Helper()
	var into T
	if err := json.Unmarshal([]byte(a.body), &into); err != nil {
		tb.Fatalf("HTTP %d, body %q: %v", a.status, a.body, err)
	}
	return into
}

// trusting returns an HTTPS client that trusts only the process's authority.
func trusting(tb testing.TB, p *process, policy *tls.Config) *http.Client {
	tb.Helper()
	pem, err := os.ReadFile(p.CA)
	if err != nil {
		tb.Fatal(err)
	}
	policy.RootCAs = x509.NewCertPool()
	if !policy.RootCAs.AppendCertsFromPEM(pem) {
		tb.Fatalf("%s holds no certificate", p.CA)
	}
	transport := &http.Transport{TLSClientConfig: policy, ForceAttemptHTTP2: true}
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}
