package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// tokenOf stores a card for one use and returns the token's value.
func tokenOf(ctx context.Context, s *coretest.Service) (string, error) {
	a, err := s.Engine.CreateToken(ctx, s.Request(""), payment.KindCard, []byte("{}"), vault.Secrets{Number: secret.New(pan), CVC: secret.New(cvc)})
	if err != nil {
		return "", err
	}
	return valueOf(a.Body)
}

// customerOf makes a customer and returns the number.
func customerOf(ctx context.Context, s *coretest.Service) (int64, error) {
	a, err := s.Engine.CreateCustomer(ctx, s.Request(""), []byte("{}"))
	return made(id.Customer, a, err)
}

func attaching(s *coretest.Service, customer int64, token string) action {
	return func(ctx context.Context) (engine.Result, error) {
		found, err := s.Engine.Stored(ctx, s.Tenant, token)
		if err != nil {
			return engine.Result{}, err
		}
		return s.Engine.Attach(ctx, s.Request(""), customer, found, func(details []byte) ([]byte, string) { return details, "print" })
	}
}

func payingBy(s *coretest.Service, method string) action {
	return func(ctx context.Context) (engine.Result, error) { return payBy(ctx, s, "", method) }
}

// TestTokenAtOnce: of all concurrent requests with a token, one uses it, for a payment or for a
// payment method.
func TestTokenAtOnce(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	customer, err := customerOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	const other = int64(payment.MaxMethods) // the customer has room for these; later repetitions are payments only
	got := race{prepare: func(ctx context.Context, i int) (contest, error) {
		token, err := tokenOf(ctx, s)
		steps := []action{payingBy(s, token), payingBy(s, token)}
		if int64(i) < other {
			steps[1] = attaching(s, customer, token)
		}
		return contest{steps, []int64{int64(i)}}, err
	}, after: func(objects []int64) string {
		return map[bool]string{true: "attached or paid", false: "paid"}[objects[0] < other]
	}}.run(t)
	wantOutcomes(t, got, []string{
		"201 token_used: paid", "token_used 201: paid", "201 token_used: attached or paid", "token_used 201: attached or paid",
	})
	effects := s.Number(t, "SELECT (SELECT COUNT(*) FROM transactions WHERE status = 'captured') + (SELECT COUNT(*) FROM payment_methods)")
	if effects != int64(raceRounds) || s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status <> 'captured'") != 0 {
		t.Errorf("effects: got %d, want %d and nothing half", effects, raceRounds)
	}
	if got, want := s.Acquirer.Moved(coretest.Authorize), 100*s.Number(t, "SELECT COUNT(*) FROM transactions"); got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	wantSettledBooks(t, s)
}

// TestDetachAgainstPay: a payment by a payment method that is detached at the same time is made or
// refused as a whole.
func TestDetachAgainstPay(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		customer, method, err := methodOf(ctx, s)
		detach := func(ctx context.Context) (engine.Result, error) {
			return s.Engine.Detach(ctx, s.Request(""), customer, method)
		}
		return contest{[]action{payingBy(s, id.Format(id.PaymentMethod, method)), detach}, []int64{customer}}, err
	}, after: attachedTo(t, s)}.run(t)
	wantOutcomes(t, got, []string{"201 200: 0 attached", "no_source 200: 0 attached"})
	paid := s.Number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'captured'")
	if got, want := s.Acquirer.Moved(coretest.Authorize), 100*paid; got != want {
		t.Errorf("moved: got %d, want %d", got, want)
	}
	if want := int64(got["201 200: 0 attached"]); paid != want {
		t.Errorf("paid: got %d, want %d", paid, want)
	}
	wantSettledBooks(t, s)
}

// methodOf makes a customer with a payment method and returns both numbers.
func methodOf(ctx context.Context, s *coretest.Service) (customer, method int64, err error) {
	if customer, err = customerOf(ctx, s); err != nil {
		return 0, 0, err
	}
	token, err := tokenOf(ctx, s)
	if err != nil {
		return 0, 0, err
	}
	a, err := attaching(s, customer, token)(ctx)
	method, err = made(id.PaymentMethod, a, err)
	return customer, method, err
}

// attachedTo returns how many payment methods a customer has.
func attachedTo(t *testing.T, s *coretest.Service) func(objects []int64) string {
	t.Helper()
	return func(objects []int64) string {
		return fmt.Sprint(s.Number(t, "SELECT COUNT(*) FROM payment_methods WHERE customer_id = ? AND detached_at = 0", objects[0]), " attached")
	}
}

// TestDeleteAgainstAttach: a deleted customer has no payment method. If the deletion comes first,
// the token stays unused.
func TestDeleteAgainstAttach(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	var values sync.Map // of tokens, by their number
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		customer, err := customerOf(ctx, s)
		if err != nil {
			return contest{}, err
		}
		token, err := tokenOf(ctx, s)
		remove := func(ctx context.Context) (engine.Result, error) {
			return s.Engine.DeleteCustomer(ctx, s.Request(""), customer, nil)
		}
		number, _ := payment.TokenOfValue(token)
		values.Store(number, token)
		return contest{[]action{attaching(s, customer, token), remove}, []int64{customer, number}}, err
	}, after: func(objects []int64) string {
		value, _ := values.Load(objects[1])
		found, err := s.Engine.Stored(t.Context(), s.Tenant, value.(string))
		return fmt.Sprintf("%s, token to be used %t", attachedTo(t, s)(objects), err == nil && !found.Secrets.CVC.IsZero())
	}}.run(t)
	wantOutcomes(t, got, []string{"201 200: 0 attached, token to be used false", "not_found 200: 0 attached, token to be used true"})
	if got := s.Number(t, "SELECT COUNT(*) FROM payment_methods WHERE number IS NOT NULL"); got != 0 {
		t.Errorf("%d numbers of gone customers stay", got)
	}
	wantSettledBooks(t, s)
}

// TestConditionalDeleteAgainstAttach races an attachment against a deletion that expects the
// version before it. One of them takes place. It runs within one core, and across two cores.
func TestConditionalDeleteAgainstAttach(t *testing.T) {
	t.Parallel()
	t.Run("one core", func(t *testing.T) {
		t.Parallel()
		s := coretest.Open(t)
		conditionalDelete(t, s, s)
	})
	t.Run("two cores", func(t *testing.T) {
		t.Parallel()
		s := coretest.OpenShared(t)
		conditionalDelete(t, s, s.Beside(t))
	})
}

// conditionalDelete attaches through one core and deletes through another.
func conditionalDelete(t *testing.T, one, other *coretest.Service) {
	t.Helper()
	got := race{prepare: func(ctx context.Context, _ int) (contest, error) {
		customer, err := customerOf(ctx, one)
		if err != nil {
			return contest{}, err
		}
		token, err := tokenOf(ctx, one)
		read := int64(1)
		remove := func(ctx context.Context) (engine.Result, error) {
			return other.Engine.DeleteCustomer(ctx, other.Request(""), customer, &read)
		}
		return contest{[]action{attaching(one, customer, token), remove}, []int64{customer}}, err
	}, after: attachedTo(t, one)}.run(t)
	wantOutcomes(t, got, []string{"201 version_conflict: 1 attached", "not_found 200: 0 attached"})
}
