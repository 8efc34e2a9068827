package sdktest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// System is what clients are sent to.
type System struct {
	HTTPS string       // base URL of both dialects, and of v1
	CA    string       // PEM file of the authority that clients are to trust
	V1    string       // base URL by which a walk looks at v1
	HTTP  *http.Client // for that
	Key   string       // secret test key of the merchant
	A     LoginA
	Log   fmt.Stringer // what it said, shown where a client fails
}

// ask has v1 do something without a body.
func (s *System) ask(t *testing.T, method, path string) (status int, body string) {
	t.Helper()
	return s.do(t, method, path, "")
}

func (s *System) do(t *testing.T, method, path, sent string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.V1+path, strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + s.Key}, "Content-Type": {"application/json"}}
	got, err := s.HTTP.Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return got.StatusCode, string(text)
}

func (s *System) transactions(t *testing.T) []v1.Transaction {
	t.Helper()
	c, err := v1.NewClientWithResponses(s.V1, v1.WithHTTPClient(s.HTTP), v1.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+s.Key)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return Transactions(t, c)
}

// Transactions returns all there are, newest first.
func Transactions(tb testing.TB, c *v1.ClientWithResponses) []v1.Transaction {
	tb.Helper()
	var all []v1.Transaction
	limit := 100
	params := &v1.ListTransactionsParams{Limit: &limit}
	for {
		page, err := c.ListTransactionsWithResponse(tb.Context(), params)
		if err != nil {
			tb.Fatal(err)
		}
		if page.JSON200 == nil {
			tb.Fatalf("list: %s: %s", page.Status(), page.Body)
		}
		all = append(all, page.JSON200.Data...)
		if !page.JSON200.HasMore {
			return all
		}
		last := all[len(all)-1].ID
		params.StartingAfter = &last
	}
}

// Issuer issues logins by compat-proxy's own command.
type Issuer struct {
	Program string // compat-proxy
	File    string // of the credentials
}

// Run runs a credentials command on the file, and returns what it showed.
func (i Issuer) Run(t *testing.T, args ...string) string {
	t.Helper()
	//nolint:gosec // the program is ours to choose
	cmd := exec.CommandContext(t.Context(), i.Program, append(append([]string{"credentials"}, args...), "--file", i.File)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("credentials %v: %v\n%s", args, err, out)
	}
	return string(out)
}
