package acquirertest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// connector sends the reference of each request to a provider over HTTP.
type connector struct {
	url string
	// wrong makes each failure ErrUnavailable, even if the request was sent.
	wrong bool
}

func (c *connector) send(ctx context.Context, reference string) (acquirer.Response, error) {
	var sending httpx.Sending
	r, err := http.NewRequestWithContext(sending.Trace(ctx), http.MethodPost, c.url+"/"+reference, http.NoBody)
	if err != nil {
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	}
	resp, err := http.DefaultClient.Do(r)
	switch {
	case err != nil && (c.wrong || sending.NeverSent(err)):
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	case err != nil:
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnknown, err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode == http.StatusOK {
		return acquirer.Response{Approved: true}, err
	}
	if c.wrong {
		return acquirer.Response{}, acquirer.ErrUnavailable
	}
	return acquirer.Response{}, acquirer.ErrUnknown
}

// Authorize implements acquirer.Acquirer.
func (c *connector) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	return c.send(ctx, r.Reference)
}

// Capture implements acquirer.Acquirer.
func (c *connector) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return c.send(ctx, r.Reference)
}

// Void implements acquirer.Acquirer.
func (c *connector) Void(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return c.send(ctx, r.Reference)
}

// Refund implements acquirer.Acquirer.
func (c *connector) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	return c.send(ctx, r.Reference)
}

// Credit implements acquirer.Acquirer.
func (c *connector) Credit(ctx context.Context, r acquirer.Credit) (acquirer.Response, error) {
	return c.send(ctx, r.Reference)
}

// Inquire implements acquirer.Acquirer.
func (*connector) Prepare(context.Context) (string, error) { return "", nil }

func (c *connector) Inquire(ctx context.Context, about acquirer.Sent) (acquirer.Response, error) {
	return c.send(ctx, about.Reference)
}

// TestMisreports: a connector that reports each failure as ErrUnavailable fails the test for each
// kind of request, unless the provider refuses connections. A connector that distinguishes passes.
func TestMisreports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		respond http.HandlerFunc // nil refuses connections
		wrong   int
	}{
		"refused connection": {nil, 0},
		"lost response":      {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 5},
		"unavailable": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for wrong, want := range map[bool]int{false: 0, true: c.wrong} {
				var received sync.Map // paths
				provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					received.Store(r.URL.Path, true)
					c.respond(w, r)
				}))
				defer provider.Close()
				if c.respond == nil {
					provider.Close()
				}
				got := acquirertest.Misreports(t.Context(), acquirertest.Subject{
					Acquirer: &connector{provider.URL, wrong},
					Received: func(reference string) bool { _, ok := received.Load("/" + reference); return ok },
				})
				if len(got) != want {
					t.Errorf("wrong %t: got %q, want %d texts", wrong, got, want)
				}
			}
		})
	}
}

// TestScriptedAcquirer checks the acquirer of core's tests. With any hooks, it must not report a
// request as without an effect if it had one.
func TestScriptedAcquirer(t *testing.T) {
	t.Parallel()
	fail := func(context.Context, coretest.Call) error { return acquirer.ErrUnavailable }
	for name, a := range map[string]*coretest.Acquirer{"before": {Before: fail}, "after": {After: fail}} {
		for _, text := range acquirertest.Misreports(t.Context(), acquirertest.Subject{
			Acquirer: a,
			Received: func(reference string) bool {
				_, err := a.Inquire(t.Context(), acquirer.Sent{Reference: reference})
				return err == nil
			},
		}) {
			t.Errorf("%s: %s", name, text)
		}
	}
}
