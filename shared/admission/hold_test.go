package admission_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/shared/admission"
)

// holding runs do in a request of merchant mer_1 and returns after its handler.
func holding(t *testing.T, l *admission.Limiter, do func(ctx context.Context)) {
	t.Helper()
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		who := admission.Identity{Key: "key_1", Merchant: "mer_1", Live: true}
		wantHeld(t, "login", admission.Identify(r.Context(), who), nil)
		do(r.Context())
	})
	call(l.Handler(http.HandlerFunc(full), next), get(t.Context()))
}

func wantHeld(t *testing.T, name string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestResponsesHoldMemory: the responses of a client hold its share of the memory until their
// handlers end. A GET beyond the share is refused. The response to a change is only counted,
// because its outcome must not be lost.
func TestResponsesHoldMemory(t *testing.T) {
	t.Parallel()
	const part = 100 << 10
	l := admission.New(admission.Config{Memory: 3 * part})
	for range 2 {
		holding(t, l, func(ctx context.Context) {
			wantHeld(t, "first", admission.Sent(ctx, http.MethodGet, part), nil)
			wantHeld(t, "beyond the share", admission.Sent(ctx, http.MethodGet, 16<<10+1), admission.ErrTooMany)
			wantHeld(t, "ordinary", admission.Sent(ctx, http.MethodGet, 16<<10), nil)
			wantHeld(t, "change", admission.Sent(ctx, http.MethodPost, 3*part), nil)
			wantHeld(t, "after the change", admission.Sent(ctx, http.MethodHead, part), admission.ErrOverloaded)
		})
	}
	holding(t, l, func(outer context.Context) {
		wantHeld(t, "outer", admission.Received(outer, http.MethodGet, part), nil)
		holding(t, l, func(ctx context.Context) { //nolint:contextcheck // another request
			wantHeld(t, "beside another", admission.Received(ctx, http.MethodGet, part), admission.ErrTooMany)
			wantHeld(t, "replaced", admission.Received(outer, http.MethodGet, 20<<10), nil)
			wantHeld(t, "after it", admission.Received(ctx, http.MethodGet, part/2), nil)
		})
		wantHeld(t, "alone", admission.Received(outer, http.MethodGet, part), nil)
	})
	holding(t, admission.New(admission.Config{}), func(ctx context.Context) {
		wantHeld(t, "without a bound", admission.Sent(ctx, http.MethodGet, 1<<60), nil)
	})
	wantHeld(t, "outside a request", admission.Received(t.Context(), http.MethodGet, 1<<60), nil)
}

// TestResponsesMoveToTheMerchant: a response that was received before the login counts towards the
// merchant after it.
func TestResponsesMoveToTheMerchant(t *testing.T) {
	t.Parallel()
	const part = 100 << 10
	l := admission.New(admission.Config{Memory: 3 * part})
	next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		wantHeld(t, "before", admission.Received(r.Context(), http.MethodGet, part), nil)
		who := admission.Identity{Key: "key_1", Merchant: "mer_1", Live: true}
		wantHeld(t, "login", admission.Identify(r.Context(), who), nil)
		holding(t, l, func(ctx context.Context) { //nolint:contextcheck // another request
			wantHeld(t, "merchant", admission.Sent(ctx, http.MethodGet, part), admission.ErrTooMany)
		})
	})
	call(l.Handler(http.HandlerFunc(full), next), get(t.Context()))
}
