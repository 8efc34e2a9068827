package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
)

// modelToken is the expected state of a token.
type modelToken struct {
	id   string
	code string
	made time.Time
	used bool
	gone bool // swept
}

// tokenModel drives tokens and records the expected state of each.
type tokenModel struct {
	t      *testing.T
	s      *coretest.Service
	w      *seen
	admin  *vault.Vault
	tokens []*modelToken
	paid   int64
}

// want returns how a payment by k must end if the acquirer returns err; nil is an approval.
func (m *tokenModel) want(k *modelToken, says error) (status int, refused error) {
	status = 201
	switch {
	case k.gone:
		refused = payment.ErrNoSource
	case k.used:
		refused = payment.ErrTokenUsed
	case !m.s.Clock.Now().Before(k.made.Add(payment.TokenLifetime)):
		refused = payment.ErrTokenExpired
	case errors.Is(says, acquirer.ErrUnavailable):
		refused = engine.ErrAcquirerUnavailable
	case errors.Is(says, acquirer.ErrUnknown):
		status = 504
	}
	if refused != nil {
		status = 0
	}
	return status, refused
}

func (m *tokenModel) pay(r *rapid.T) {
	k := rapid.SampledFrom(m.tokens).Draw(r, "token")
	says := rapid.SampledFrom([]error{nil, acquirer.ErrUnavailable, acquirer.ErrUnknown}).Draw(r, "acquirer")
	m.s.Acquirer.Before = func(context.Context, coretest.Call) error { return says }
	defer heal(m.s)
	asked := len(m.w.cards)
	a, err := payBy(m.t.Context(), m.s, "", k.id)
	status, refused := m.want(k, says)
	if !errors.Is(err, refused) || a.Status != status {
		r.Fatalf("got %d, %v, want %d, %v", a.Status, err, status, refused)
	}
	if status == 0 && !errors.Is(refused, engine.ErrAcquirerUnavailable) {
		if len(m.w.cards) != asked {
			r.Fatal("the acquirer was asked for a payment that was refused")
		}
		return
	}
	if c := m.w.cards[asked]; c.Number.Reveal() != pan || c.CVC.Reveal() != k.code {
		r.Fatal("the acquirer got another card")
	}
	k.used = status != 0
	if status == 201 {
		m.paid += 100
	}
}

func (m *tokenModel) sweep(r *rapid.T) {
	if err := m.s.Engine.SweepTokens(m.t.Context()); err != nil {
		r.Fatal(err)
	}
	for _, k := range m.tokens {
		k.gone = k.gone || !m.s.Clock.Now().Before(k.made.Add(payment.TokenLifetime+store.KeyLifetime))
	}
}

func (m *tokenModel) rotate(r *rapid.T) {
	rotation := vault.Rotation{
		Vault: m.admin, Store: m.s.DB, Drop: rapid.Bool().Draw(r, "drop"), Progress: func(int, int) {},
		Complain: func(object string, err error) { r.Errorf("%s: %v", object, err) },
	}
	if err := rotation.Run(m.t.Context()); err != nil {
		r.Fatal(err)
	}
}

// check compares the store with the model.
func (m *tokenModel) check(r *rapid.T) {
	if got := m.s.Acquirer.Moved(coretest.Authorize); got != m.paid {
		r.Fatalf("moved: got %d, want %d", got, m.paid)
	}
	if got := m.s.Number(m.t, "SELECT COUNT(*) FROM tokens JOIN security_codes ON token_id = id WHERE used_by <> 0"); got != 0 {
		r.Fatal("a used token has its security code")
	}
}

// TestTokenModel: after actions in any order, a token has made at most one whole payment,
// within its hour.
func TestTokenModel(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	m := &tokenModel{t: t, s: s, w: watch(t, s), admin: s.MustVault(t)}
	rapid.Check(t, func(r *rapid.T) {
		m.tokens = []*modelToken{{id: MustToken(t, s, cvc), code: cvc, made: s.Clock.Now()}}
		for range rapid.IntRange(1, 30).Draw(r, "steps") {
			switch rapid.IntRange(0, 9).Draw(r, "step") {
			case 0, 1:
				code := rapid.SampledFrom([]string{"", cvc}).Draw(r, "code")
				m.tokens = append(m.tokens, &modelToken{id: MustToken(t, s, code), code: code, made: s.Clock.Now()})
			case 2:
				minutes := rapid.SampledFrom([]int{1, 20, 59, 60, 24 * 60}).Draw(r, "minutes")
				s.Clock.Advance(time.Duration(minutes) * time.Minute)
			case 3:
				m.sweep(r)
			case 4:
				m.rotate(r)
			default:
				m.pay(r)
			}
			m.check(r)
		}
	})
}
