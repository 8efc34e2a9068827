package acquirertest

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Subject is an acquirer whose requests all fail in one way: in the connector, in the network or at
// the provider.
type Subject struct {
	acquirer.Acquirer
	// Received reports whether the provider has received a byte of the request with a reference, or
	// can still receive one. It is called after the call with that reference has returned.
	Received func(reference string) bool
}

// Misreports sends a request of each kind. It returns a text for each request that the provider has
// received although the error is acquirer.ErrUnavailable. After that error the engine closes the
// step and frees the idempotency key. The client's retry is then another request, with another
// reference: it would move the money a second time.
func Misreports(ctx context.Context, s Subject) []string {
	var out []string
	for kind, send := range s.requests() {
		reference := "conformance_" + kind
		if _, err := send(ctx, reference); errors.Is(err, acquirer.ErrUnavailable) && s.Received(reference) {
			out = append(out, fmt.Sprintf("%s: the provider has received the request, want another error than %v", kind, err))
		}
	}
	return out
}

// requests returns a request of each kind that moves money.
func (s Subject) requests() map[string]func(ctx context.Context, reference string) (acquirer.Response, error) {
	const amount, currency = 1999, "usd"
	card := acquirer.Source{Card: acquirer.Card{Number: secret.New("4242424242424242"), ExpMonth: 12, ExpYear: 2030}}
	type follow func(context.Context, acquirer.Follow) (acquirer.Response, error)
	following := func(send follow) func(context.Context, string) (acquirer.Response, error) {
		return func(ctx context.Context, reference string) (acquirer.Response, error) {
			return send(ctx, acquirer.Follow{
				Reference: reference, Amount: amount, Currency: currency,
				Original: acquirer.Sent{
					Kind: acquirer.Authorization, Reference: "conformance_authorization", Amount: amount, Currency: currency,
				},
			})
		}
	}
	return map[string]func(context.Context, string) (acquirer.Response, error){
		"authorize": func(ctx context.Context, reference string) (acquirer.Response, error) {
			return s.Authorize(ctx, acquirer.Authorize{Reference: reference, Amount: amount, Currency: currency, Source: card})
		},
		"credit": func(ctx context.Context, reference string) (acquirer.Response, error) {
			return s.Credit(ctx, acquirer.Credit{Reference: reference, Amount: amount, Currency: currency, Source: card})
		},
		"capture": following(s.Capture),
		"void":    following(s.Void),
		"refund":  following(s.Refund),
	}
}
