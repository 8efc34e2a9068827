package engine_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// TestResultOfAPayment: the result has the kind and the transaction as the acquirer decided it, and
// the result of a retry has only the stored response.
func TestResultOfAPayment(t *testing.T) {
	t.Parallel()
	approve := func(coretest.Call) string { return "" }
	decline := func(coretest.Call) string { return "generic_decline" }
	lose := func(context.Context, coretest.Call) error { return errors.New("no response") }
	for name, c := range map[string]struct {
		decide func(coretest.Call) string
		before func(context.Context, coretest.Call) error
		kind   engine.Kind
		status payment.Status
	}{
		"approved": {approve, nil, engine.Created, payment.Captured},
		"declined": {decline, nil, engine.Refused, payment.Declined},
		"lost":     {approve, lose, engine.Unknown, payment.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.Open(t)
			s.Acquirer.Decide, s.Acquirer.Before = c.decide, c.before
			got, err := s.Pay(t.Context(), s.Request("k"), 100, true)
			if err != nil {
				t.Fatal(err)
			}
			shown := got.Transaction
			if got.Kind == engine.Created {
				shown, _ = got.Object.(*payment.Transaction)
			}
			if shown == nil || shown.Status != c.status || got.Kind != c.kind {
				t.Fatalf("got %q with %+v, want %q with a transaction that is %q", got.Kind, shown, c.kind, c.status)
			}
			if c.kind == engine.Unknown {
				return
			}
			again, err := s.Pay(t.Context(), s.Request("k"), 100, true)
			if err != nil || !again.Replayed || again.Object != nil || !bytes.Equal(again.Body, got.Body) {
				t.Errorf("retry: got %+v, %v, want the body %s alone", again, err, got.Body)
			}
		})
	}
}

// TestResultWithACredential: the client receives the credential of a result, and no row has it.
func TestResultWithACredential(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	create := map[string]func(engine.Request) (engine.Result, error){
		"key": func(r engine.Request) (engine.Result, error) {
			return s.Engine.CreateKey(t.Context(), r, s.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
		},
		"endpoint": func(r engine.Request) (engine.Result, error) {
			return s.Engine.CreateEndpoint(t.Context(), r, payment.Endpoint{Types: []string{payment.AllEventTypes}})
		},
		"transaction": func(r engine.Request) (engine.Result, error) { return s.Prepare(t.Context(), r, 100, true) },
	}
	for name, fn := range create {
		got, err := fn(s.Request(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		credential := got.Credential.Reveal()
		if credential == "" || !bytes.Contains(got.Body, []byte(credential)) {
			t.Errorf("%s: the response does not show the credential", name)
		}
		stored := s.Texts(t, "SELECT CAST(body AS TEXT) FROM idempotency_keys WHERE key = '"+name+"'")
		if len(stored) != 1 || bytes.Contains([]byte(stored[0]), []byte(credential)) {
			t.Errorf("%s: the stored response shows the credential", name)
		}
		if again, err := fn(s.Request(name)); err != nil || !bytes.Equal(again.Body, got.Body) {
			t.Errorf("%s: the retry got another response, or %v", name, err)
		}
	}
}
