package sdk

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// System is the system under test.
type System struct {
	HTTPS string       // base URL of both dialects, and of v1
	CA    string       // PEM file of the authority for clients
	V1    string       // base URL of v1 for the checks
	HTTP  *http.Client // client for V1
	Key   string       // secret test key of the merchant
	A     LoginA
	Log   fmt.Stringer // its log, shown if a client fails
}

// send sends a v1 request without a body.
func (s *System) send(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	return s.do(t, method, path, "")
}

func (s *System) do(tb testing.TB, method, path, sent string) (status int, body string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, s.V1+path, strings.NewReader(sent))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.Key}, "Content-Type": {"application/json"}}
	got, err := s.HTTP.Do(r)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return got.StatusCode, string(text)
}

// Transactions returns all transactions that the key can read, newest first.
func (s *System) Transactions(tb testing.TB) []v1.Transaction {
	tb.Helper()
	var all []v1.Transaction
	for path := "/v1/transactions?limit=100"; ; path = "/v1/transactions?limit=100&starting_after=" + all[len(all)-1].ID {
		status, body := s.do(tb, http.MethodGet, path, "")
		var page v1.TransactionList
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
			tb.Fatalf("list transactions: HTTP %d, %s (%v)", status, body, err)
		}
		all = append(all, page.Data...)
		if !page.HasMore {
			return all
		}
	}
}

// Issuer issues logins with compat-proxy's own command.
type Issuer struct {
	Program string // path of compat-proxy
	File    string // of the credentials
}

// Run runs a credentials command on the file, and returns its output.
func (i Issuer) Run(t *testing.T, args ...string) string {
	t.Helper()
	args = append(append([]string{"credentials"}, args...), "--file", i.File)
	stdout, stderr, err := programtest.Output(t.Context(), programtest.Command{Path: i.Program, Args: args})
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", args, err, stdout, stderr)
	}
	return stdout + stderr
}
