package compatproxy

import (
	"cmp"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
)

// signatureAge is the default: a recorded signature is valid for half an hour.
const signatureAge = 15 * time.Minute

// providerBHosts are the provider's host names. Clients that only send to another address still
// sign them.
var providerBHosts = []string{
	"apitest.cybersource.com", "api.cybersource.com", "apitest.in.cybersource.com", "api.in.cybersource.com",
}

// verifier returns the verifier for the endpoints of provider-b.
func (c Config) verifier(keys *credentials.Store) *auth.Verifier {
	return auth.New(auth.Config{
		Keys: keys, Clock: c.Clock, Age: max(0, cmp.Or(c.SignatureAge, signatureAge)),
		Hosts: slices.Concat(providerBHosts, c.SignatureHosts),
	})
}
