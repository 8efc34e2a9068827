package providera

import (
	"net/http"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/secret"
)

// BenchmarkAuthorize is P14 of the design.
func BenchmarkAuthorize(b *testing.B) {
	approval := acquirertest.Approval{
		Status: http.StatusOK, Type: "application/xml; charset=utf-8", Body: outcomeOf(okay, whole),
	}
	acquirertest.BenchmarkAuthorize(b, approval, func(c *upstream.Client) (acquirer.Acquirer, error) {
		return New(Config{Name: hostName, TransactionKey: secret.New(hostKey), Upstream: c})
	})
}
