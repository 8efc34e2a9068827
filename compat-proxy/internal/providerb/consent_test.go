package providerb_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// payments is a v1 that approves everything and keeps the payments.
type payments struct {
	content

	made []v1.TransactionCreate
}

func (p *payments) Execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	if a, ok := c.(command.Authorize); ok {
		p.made = append(p.made, a.Body)
	}
	return p.content.Execute(ctx, key, c)
}

// TestAuthenticationValue: v1 gets every authentication value in base64. The commands of the golden
// files do not show it.
func TestAuthenticationValue(t *testing.T) {
	t.Parallel()
	const (
		plain   = "3q2+78r+ur7erb7vyv66vv////8="
		escaped = `3q2+78r+ur7erb7vyv66vv\/\/\/\/8=`
	)
	for _, tt := range []struct{ name, member, value, want string }{
		{"base64", "cavv", plain, plain},
		{"slashes escaped twice", "cavv", escaped, plain},
		{"slashes escaped twice, of Mastercard", "ucafAuthenticationData", escaped, plain},
		{"another text", "cavv", "not base64!", "bm90IGJhc2U2NCE="},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(map[string]any{
				"paymentInformation": map[string]any{"card": map[string]string{
					"number": "4111111111111111", "expirationMonth": "12", "expirationYear": "2031",
				}},
				"orderInformation":                  map[string]any{"amountDetails": map[string]string{"totalAmount": "1.00"}},
				"consumerAuthenticationInformation": map[string]string{tt.member: tt.value},
			})
			if err != nil {
				t.Fatal(err)
			}
			x := &payments{}
			mustHandler(t, x).ServeHTTP(httptest.NewRecorder(), scenario{}.request(t, body))
			if len(x.made) != 1 || x.made[0].ThreeDSecure == nil || x.made[0].ThreeDSecure.Cavv == nil {
				t.Fatalf("payments: got %v, want one with an authentication value", x.made)
			}
			if got := x.made[0].ThreeDSecure.Cavv.Reveal(); got != tt.want {
				t.Errorf("authentication value: got %q, want %q", got, tt.want)
			}
		})
	}
}
